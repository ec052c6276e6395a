"""The settings of the recipe, and how those that the user leaves open follow from the data."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal

import numpy as np
import scipy.sparse as sp

from rankae.base.choices import AS_SET, choice
from rankae.base.parameters import Count, CountFromZero, Positive, Range, Size, check_values
from rankae.numerics.row_search import EVERY_ROW, MOST_ROWS, is_dense
from rankae.recipe import rules
from rankae.recipe.notes import Training


@dataclass(frozen=True)
class RecipeSettings:
    """Settings of the recipe; None is chosen from the data (see `resolved`).

    effort : "low" saves time: half the code size, fewer proposals and random negatives, one stacker, and no tuning.
    code_size : h of the closed-form start.
    ridge : of the regression; by default chosen on held-out rows.
    noise_rounds : rounds of label correction (see `recipe.label_correction`); by default as many as trusted rows
        favour, and none without trusted rows.
    tuning, tuning_epochs : without a network, train D and a residual layer on leave-one-out codes.
    network : whether to train the network (1) or not (0); see `rankae.recipe.joint_network`.
    attention : whether it has a channel gate.
    neighbours, rankers : whether to train these components.
    most_rows : words of more rows than this are ignored in the search for neighbours: they say little and cost most.
    ranker_cost : C of the rankers' SVMs; by default chosen on held-out or trusted rows.
    random_negatives : number of labels drawn at random for each row, whose rankers learn it as a negative, besides the
        hard negatives.
    code_support : the code proposes, and tuning trains, only labels of at least so many rows.
    proposed : number of labels that each component proposes for a row.
    objective : "precision", or "psp" to favour rare labels (propensity-scored precision).
    """

    effort: Literal["full", "low"] = "full"
    code_size: Size | None = None
    ridge: Positive | None = None
    noise_rounds: Annotated[int, Range(0, 20)] | None = None
    tuning: bool | None = None
    tuning_epochs: Count | None = None
    network: Annotated[int, Range(0, 1)] | None = None
    word_size: Size | None = None
    attention: bool = True
    loss: Literal["smooth", "bce"] | None = None
    epochs: Count | None = None
    neighbours: bool | None = None
    most_rows: Count | None = None
    rankers: bool | None = None
    ranker_cost: Positive | None = None
    random_negatives: CountFromZero | None = None
    code_support: Count | None = None
    proposed: Count | None = None
    objective: Literal["precision", "psp"] = "precision"
    seed: CountFromZero = 0
    device: str = "cpu"

    def __post_init__(self) -> None:
        check_values("the recipe", RecipeSettings, vars(self))


@dataclass(frozen=True, kw_only=True)
class Resolved(RecipeSettings):
    """Settings with nothing left open except `ranker_cost`, which may be chosen later, on the rankers' shortlists."""

    code_size: int
    ridge: float
    noise_rounds: int
    tuning: bool
    tuning_epochs: int
    network: int
    word_size: int
    epochs: int
    neighbours: bool
    most_rows: int
    rankers: bool
    random_negatives: int
    code_support: int
    proposed: int


def enough_code(labels: sp.csr_matrix, effort: str) -> int:
    """The default code size h."""
    L = labels.shape[1]
    least_low, most_low = rules.CODE_SIZE_LOW
    least, part = rules.CODE_OF_FEW
    most = min(rules.CODE_SIZE, max(least, L // part)) if effort == "full" else min(most_low, max(least_low, L // 6))
    return int(min(most, *labels.shape))


def enough_proposed(labels: sp.csr_matrix, effort: str) -> int:
    """The default number of labels that a component proposes for a row."""
    many = labels.shape[1] > rules.MANY_LABELS or labels.nnz > rules.MANY_LABELS_A_ROW * labels.shape[0]
    most = rules.PROPOSED[many] if effort == "full" else rules.PROPOSED_LOW[labels.shape[1] > 1000]
    return int(min(most, labels.shape[1]))


def common_labels(labels: sp.csr_matrix, support: int, neighbours: bool) -> np.ndarray | None:
    """Columns of the labels that the code proposes: those of at least `support` rows, or the most frequent ones where
    fewer than `rules.FEWEST_COMMON` have so many; None for all labels.

    Without neighbours the code proposes all labels, because no other component would propose the rare ones.
    """
    if not neighbours:
        return None
    counts = np.bincount(labels.indices, minlength=labels.shape[1])
    common = np.flatnonzero(counts >= support)
    if len(common) < rules.FEWEST_COMMON:
        common = np.sort(np.argsort(-counts, kind="stable")[: rules.FEWEST_COMMON])
    return None if len(common) == labels.shape[1] else common.astype(np.int32)


def much_data(rows: int, words: int) -> bool:
    """Whether there are so many rows per feature that the network does not overfit."""
    return rows > rules.ROWS_A_WORD * words


def shortlist_of_paper(labels: int) -> int:
    """How many labels a step of the preset "paper" looks at; 0 for all."""
    most, seen = rules.PAPER_SEEN_LABELS
    return seen if labels > most else 0


def network_epochs(rows: int, words: int, labels: int) -> int:
    return rules.NETWORK_EPOCHS[2 if much_data(rows, words) else int(labels > rules.SEEN_LABELS[0])]


def resolved(
    settings: RecipeSettings, rows: sp.csr_matrix, labels: sp.csr_matrix, ridge: float, training: Training
) -> Resolved:
    """Fill in what the user left open from the shape of the data, and record each choice with its reason."""
    (n, L), words, low = labels.shape, rows.shape[1], settings.effort == "low"
    many, dense = L > rules.MANY_LABELS, is_dense(rows)
    row_length = rows.nnz / max(1, n)
    label_count, word_count, effort = f"{L} labels", f"{words} features", f"{settings.effort} effort"
    kind = f"features are {'dense' if dense else 'sparse'}"
    shape = f"{n} rows, {word_count} ({row_length:.0f} per row), {label_count} ({labels.nnz / max(1, n):.1f} per row)"
    training.choices["data"] = choice("data", shape)

    def choose(name: str, value: Any, why: str) -> Any:
        given = getattr(settings, name)
        chosen, reason = (value, why) if given is None else (given, AS_SET)
        training.choices[name] = choice(name, chosen, reason)
        return chosen

    h = choose("code_size", enough_code(labels, settings.effort), rules.RULES["code_size"].reason)
    proposed = choose("proposed", enough_proposed(labels, settings.effort), f"{label_count}, {effort}")
    few_products = not dense or float(n) * n * words < rules.AFFORDABLE  # dense rows are compared with all others
    neighbours = choose("neighbours", few_products, kind)
    followed = EVERY_ROW if dense else rules.FEWER_ROWS if low else MOST_ROWS
    most_rows = choose("most_rows", followed, f"{kind}, {effort}")
    usual_support = rules.CODE_SUPPORT_LOW if low else rules.CODE_SUPPORT
    support = choose("code_support", usual_support if many else 1, f"{label_count}, {effort}")
    common = common_labels(labels, support, neighbours)
    random_negatives = choose(
        "random_negatives",
        min(rules.RANDOM_NEGATIVES_LOW if low else rules.RANDOM_NEGATIVES[many], L),
        "enough to learn what a label is about",
    )
    plenty, seen = much_data(n, words), min(L, rules.SEEN_LABELS[1])
    word_size = choose("word_size", rules.WORD_SIZE[plenty], word_count)
    epochs = choose("epochs", network_epochs(n, words, L), f"{word_count}, {label_count}")
    gate = rules.GATE_COST if settings.attention else 1
    network_cost = 6.0 * n * epochs * (h * seen + gate * word_size * row_length)
    affordable = int(network_cost < 10 * rules.AFFORDABLE and L > 1 and not low)
    network = choose("network", affordable, f"{network_cost:.0e} multiplications, {effort}")
    tuning_epochs = choose("tuning_epochs", rules.TUNING_EPOCHS[many], label_count)
    tuning_cost = 6.0 * tuning_epochs * n * (L if common is None else len(common)) * h
    tuning = choose(
        "tuning",
        not network and not low and tuning_cost < rules.TUNING_AFFORDABLE and L > 1,
        "the network is trained on the same codes" if network else f"{tuning_cost:.0e} multiplications, {effort}",
    )
    rankers = choose("rankers", L > 1, label_count)
    noise_rounds = choose("noise_rounds", 0, "no trusted rows that could tell whether it helps")
    values = {
        "code_size": h, "proposed": min(proposed, L), "neighbours": neighbours, "most_rows": most_rows,
        "code_support": support, "tuning": tuning, "tuning_epochs": tuning_epochs, "random_negatives": random_negatives,
        "word_size": word_size, "epochs": epochs, "network": network, "rankers": rankers,
        "noise_rounds": noise_rounds, "ridge": ridge,
    }  # fmt: skip
    return Resolved(**(asdict(settings) | values))
