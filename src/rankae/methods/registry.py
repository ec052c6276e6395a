"""Every method by name: Rank-AE and its variants, the rivals of the paper, recent strong methods, and baselines.

A method's module is imported on first use, so that listing methods is fast and a missing optional package is reported
in one plain sentence.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankae.base.parameters import check_parameters
from rankae.errors import MissingExtra, ModelFileError, RankaeError, nearest
from rankae.methods.custom import custom_class, is_custom

if TYPE_CHECKING:
    from rankae.base.ranker import LabelRanker
    from rankae.base.search_space import Space

__all__ = ["METHODS", "Method", "class_of", "create", "load", "method_of", "names", "search_space", "seeded"]


@dataclass(frozen=True)
class Method:
    """Where a method lives, what it reads, and the parameters that its name stands for."""

    where: str  # "module:Class"
    summary: str
    reads: str = "features"
    parameters: dict[str, Any] = field(default_factory=dict)
    extra_package: str | None = None  # the import that the extra `rivals` provides
    repeatable: bool = True  # False: the library underneath offers no seed
    trusted_choose: str = ""  # what trusted rows choose in `fit_dataset`: "parameters" or the "epoch" that is kept


METHODS: dict[str, Method] = {
    "rank-ae": Method("rankae.methods.rank_ae:RankAE", "ranking autoencoder, at its best", trusted_choose="parameters"),
    "rank-ae-network": Method(
        "rankae.methods.rank_ae:RankAE",
        "ranking autoencoder, one network at its best",
        parameters={"preset": "network"},
        trusted_choose="parameters",
    ),
    "rank-ae-paper": Method(
        "rankae.methods.rank_ae:RankAE",
        "ranking autoencoder, as in the paper",
        parameters={"preset": "paper"},
        trusted_choose="epoch",
    ),
    "rank-ae-strict": Method(
        "rankae.methods.rank_ae:RankAE",
        "ranking autoencoder, as in the paper to the letter",
        parameters={"preset": "paper-strict"},
        trusted_choose="epoch",
    ),
    "bce-ae": Method(
        "rankae.methods.rank_ae:RankAE",
        "the paper's model with binary cross-entropy in place of the ranking loss",
        parameters={"preset": "paper", "loss": "bce"},
        trusted_choose="epoch",
    ),
    "no-attn": Method(
        "rankae.methods.rank_ae:RankAE",
        "the paper's model without channel attention",
        parameters={"preset": "paper", "attention": False},
        trusted_choose="epoch",
    ),
    "sleec": Method("rankae.rivals.sleec:Sleec", "local embeddings that keep label neighbours near"),
    "fastxml": Method("rankae.rivals.fastxml:FastXML", "forest of trees that optimise nDCG"),
    "pfastrexml": Method("rankae.rivals.pfastrexml:PfastreXML", "FastXML with propensities, for rare labels"),
    "pdsparse": Method("rankae.rivals.pdsparse:PDSparse", "sparse max-margin, primal and dual"),
    "fasttext": Method(
        "rankae.rivals.fasttext:FastText", "mean of word vectors, linear classifier", "text", extra_package="fasttext"
    ),
    "bow-cnn": Method("rankae.rivals.bow_cnn:BowCNN", "convolution over bags of neighbouring words", "text"),
    "xml-cnn": Method("rankae.rivals.xml_cnn:XMLCNN", "convolution over word vectors, dynamic max-pooling", "text"),
    "c2ae": Method("rankae.rivals.c2ae:C2AE", "canonically correlated autoencoder"),
    "cbm": Method("rankae.rivals.cbm:CBM", "conditional Bernoulli mixture of logistic experts, for few labels"),
    "crf": Method("rankae.rivals.crf:CRF", "pairwise conditional random field over label sets, for few labels"),
    "parabel": Method(
        "rankae.rivals.omikuji:Parabel",
        "balanced label trees (omikuji)",
        extra_package="omikuji",
        repeatable=False,
    ),
    "bonsai": Method(
        "rankae.rivals.omikuji:Bonsai",
        "shallow, unbalanced label trees (omikuji)",
        extra_package="omikuji",
        repeatable=False,
    ),
    "plt": Method("rankae.rivals.napkinxc:PLT", "probabilistic label tree (napkinXC)", extra_package="napkinxc"),
    "br": Method("rankae.rivals.napkinxc:BR", "binary relevance (napkinXC)", extra_package="napkinxc"),
    "one-vs-rest": Method("rankae.rivals.one_vs_rest:OneVsRest", "one linear SVM a label"),
    "classifier-chain": Method(
        "rankae.rivals.classifier_chain:ClassifierChain", "linear classifiers that see the labels before them"
    ),
    "knn": Method("rankae.rivals.knn:NearestRows", "vote of the nearest training rows"),
    "popular": Method("rankae.rivals.popular:Popular", "the most frequent labels, whatever the row"),
}


def names() -> list[str]:
    """Names of all methods."""
    return list(METHODS)


def method_of(name: str) -> Method:
    """The registry's entry for a method, or one for a custom method, `my_module:MyMethod`."""
    if name in METHODS:
        return METHODS[name]
    if is_custom(name):
        return Method(name, "a custom method", custom_class(name).reads)
    raise RankaeError(
        f"there is no method {name!r}; {nearest(name, METHODS)}choose one of {', '.join(METHODS)}, "
        "or give your own as my_module:MyMethod"
    )


def class_of(name: str) -> type[LabelRanker]:
    """The class that implements a method."""
    method = method_of(name)
    if name not in METHODS:
        return custom_class(name)
    module, _, attribute = method.where.partition(":")
    try:
        return getattr(import_module(module), attribute)
    except ModuleNotFoundError as error:
        if method.extra_package is not None and (error.name or "").partition(".")[0] == method.extra_package:
            raise MissingExtra(f"the method {name}", "rivals") from error
        raise


def search_space(name: str) -> Space:
    """The parameters of a method that `rankae tune` searches, without those that the method's name sets."""
    fixed = method_of(name).parameters
    space = class_of(name).search_space_for(fixed)
    return {parameter: values for parameter, values in space.items() if parameter not in fixed}


def create(name: str, **parameters: Any) -> LabelRanker:
    """A new, unfitted model of the method `name`; `parameters` override those that the name sets."""
    ranker = class_of(name)
    settings = method_of(name).parameters | parameters
    check_parameters(name, ranker, settings)
    model = ranker(**settings)
    model.check_parameters(name)
    return model


def seeded(model: LabelRanker, seed: int) -> LabelRanker:
    """The model with its `random_state` set, if it has that parameter."""
    return model.set_params(random_state=seed) if "random_state" in model.get_params(deep=False) else model


def load(path: str | Path, verify: bool = True) -> LabelRanker:
    """Read a model folder, whatever method it holds; without `verify`, the hashes of its files are not checked."""
    from rankae.model_file import read_model

    model_file = read_model(path, verify=verify)
    if model_file.method not in METHODS:
        raise ModelFileError(
            f"{path}: the model's method {model_file.method!r} is not known here; update rankae to read it"
        )
    return class_of(model_file.method)._loaded(model_file, path)
