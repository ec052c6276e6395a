"""What the recipe can be told, and what it makes of the data where it was told nothing."""

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
    """What the recipe can be told; None leaves the choice to the data (see `resolved`).

    effort : "low" leaves out what costs more than it gains: half of the code, some proposals, half of the stackers
        that are averaged, tuning where labels are few, and some of its labels and the search for the rankers' cost
        where they are many.
    code_size : h of the closed-form start.
    ridge : of the regression; by default chosen by leave-one-out scores.
    noise_rounds : how often leave-one-out scores correct missing and wrong labels before F and E are fitted again; by
        default as often as trusted rows say that it helps, and never without such rows.
    tuning, tuning_epochs : without a network, train D and a residual layer on leave-one-out codes.
    network : whether to train the network (1) or not (0); see `rankae.recipe.joint_network`.
    attention : whether it has a channel gate.
    neighbours, rankers : whether these components may take part.
    most_rows : neighbours are not looked for by words that more rows than this have: those say little and cost most.
    ranker_cost : C of the rankers' SVMs; by default what held-out or trusted rows choose.
    random_negatives : how many labels drawn at random to learn each row as a negative of, besides the proposed ones.
    code_support : the code proposes labels that so many rows carry, and tuning looks at no others.
    proposed : how many labels each component proposes for a row.
    objective : "precision", or "psp" to favour labels that are rare and easily missed.
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
    loss: Literal["smooth", "bce"] = "smooth"
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
    """The settings with nothing left open but the rankers' cost, most often: it is chosen when there are rankers."""

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
    """The h that is chosen where none is given."""
    least, highest = rules.CODE_SIZE_LOW
    most = rules.CODE_SIZE if effort == "full" else min(highest, max(least, labels.shape[1] // 6))
    return int(min(most, *labels.shape))


def enough_proposed(labels: sp.csr_matrix, effort: str) -> int:
    """How many labels a component proposes for a row where nobody says so."""
    most = rules.PROPOSED if effort == "full" else rules.PROPOSED_LOW[labels.shape[1] > 1000]
    return int(min(most, labels.shape[1]))


def common_labels(labels: sp.csr_matrix, support: int, neighbours: bool) -> np.ndarray | None:
    """Columns of the labels that the code proposes: those of so many rows, or None for all.

    Without neighbours nobody else would propose the others.
    """
    counts = np.bincount(labels.indices, minlength=labels.shape[1])
    common = np.flatnonzero(counts >= support).astype(np.int32)
    few = len(common) < min(rules.FEWEST_COMMON, labels.shape[1])
    return None if few or len(common) == labels.shape[1] or not neighbours else common


def much_data(rows: int, words: int) -> bool:
    """Whether there are so many rows to each feature that nothing is learnt by heart."""
    return rows > rules.ROWS_A_WORD * words


def network_epochs(rows: int, words: int, labels: int) -> int:
    return rules.NETWORK_EPOCHS[2 if much_data(rows, words) else int(labels > rules.SEEN_LABELS[0])]


def resolved(
    settings: RecipeSettings, rows: sp.csr_matrix, labels: sp.csr_matrix, ridge: float, training: Training
) -> Resolved:
    """Fill in what the user left open, from the shape of the data, and say why; `ridge` was chosen before."""
    (n, L), words, low = labels.shape, rows.shape[1], settings.effort == "low"
    many, dense = L > rules.MANY_LABELS, is_dense(rows)
    row_length = rows.nnz / max(1, n)
    of_labels, of_words, effort = f"{L} labels", f"{words} features", f"{settings.effort} effort"
    kind = f"features are {'dense' if dense else 'sparse'}"
    shape = f"{n} rows, {of_words} ({row_length:.0f} per row), {of_labels} ({labels.nnz / max(1, n):.1f} per row)"
    training.choices["data"] = choice("data", shape)

    def choose(name: str, value: Any, why: str) -> Any:
        given = getattr(settings, name)
        chosen, reason = (value, why) if given is None else (given, AS_SET)
        training.choices[name] = choice(name, chosen, reason)
        return chosen

    h = choose("code_size", enough_code(labels, settings.effort), rules.RULES["code_size"].reason)
    proposed = choose("proposed", enough_proposed(labels, settings.effort), f"{of_labels}, {effort}")
    few_products = not dense or float(n) * n * words < rules.AFFORDABLE  # dense rows are compared with all others
    neighbours = choose("neighbours", few_products, kind)
    followed = EVERY_ROW if dense else rules.FEWER_ROWS if low else MOST_ROWS
    most_rows = choose("most_rows", followed, f"{kind}, {effort}")
    usual_support = rules.CODE_SUPPORT_LOW if low else rules.CODE_SUPPORT
    support = choose("code_support", usual_support if many else 1, f"{of_labels}, {effort}")
    common = common_labels(labels, support, neighbours)
    random_negatives = choose(
        "random_negatives", min(rules.RANDOM_NEGATIVES[many], L), "enough to learn what a label is about"
    )
    plenty, seen = much_data(n, words), min(L, rules.SEEN_LABELS[1])
    word_size = choose("word_size", rules.WORD_SIZE[plenty], of_words)
    epochs = choose("epochs", network_epochs(n, words, L), f"{of_words}, {of_labels}")
    gate = rules.GATE_COST if settings.attention else 1
    network_cost = 6.0 * n * epochs * (h * seen + gate * word_size * row_length)
    affordable = int(network_cost < 10 * rules.AFFORDABLE and L > 1 and not low)
    network = choose("network", affordable, f"{network_cost:.0e} multiplications, {effort}")
    tuning_epochs = choose("tuning_epochs", rules.TUNING_EPOCHS[many], of_labels)
    tuning_cost = 6.0 * tuning_epochs * n * (L if common is None else len(common)) * h
    tuning = choose(
        "tuning",
        not network and tuning_cost < rules.TUNING_AFFORDABLE and L > 1 and (many or not low),
        "the network is trained on the same codes" if network else f"{tuning_cost:.0e} multiplications, {effort}",
    )
    rankers = choose("rankers", L > 1, of_labels)
    # Where labels are many, the search takes a tenth of the time, and held-out rows hardly tell costs apart.
    usual = rules.USUAL_COST[labels.nnz < rules.RARE_LABELS * L]
    cost = choose("ranker_cost", usual, f"{of_labels}, low effort") if low and many else settings.ranker_cost
    noise_rounds = choose("noise_rounds", 0, "no trusted rows that could tell whether it helps")
    made = {
        "code_size": h, "proposed": min(proposed, L), "neighbours": neighbours, "most_rows": most_rows,
        "code_support": support, "tuning": tuning, "tuning_epochs": tuning_epochs, "random_negatives": random_negatives,
        "word_size": word_size, "epochs": epochs, "network": network, "rankers": rankers, "ranker_cost": cost,
        "noise_rounds": noise_rounds, "ridge": ridge,
    }  # fmt: skip
    return Resolved(**(asdict(settings) | made))
