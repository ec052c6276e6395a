"""Every size rule and threshold of the recipe: its value, the reason, and the run that it is based on.

    python -m rankae.recipe.rules        prints the table

Rules without a recorded run say so: doubt these first if the recipe does badly on data of another kind.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

Value = TypeVar("Value")
_BY_HAND = "set by hand; no recorded run"
_RECIPE = "docs/recipe.md"


@dataclass(frozen=True)
class Rule:
    value: Any
    reason: str
    run: str


RULES: dict[str, Rule] = {}


def rule(name: str, value: Value, reason: str, run: str = _BY_HAND) -> Value:
    """Add a rule to the table and return its value."""
    RULES[name] = Rule(value, reason, run)
    return value


# Cost ----------------------------------------------------------------------------------------------------------------

AFFORDABLE = rule(
    "affordable", 3e12, "multiplications that a component may cost before it is left out: about a minute of one core"
)
TUNING_AFFORDABLE = rule(
    "tuning_affordable", 4 * AFFORDABLE, "multiplications that the tuning of D may cost; at low effort it is left out: "
    "it took a third of the training and P@1 was .7 lower", "amazon-670k x .02, two seeds",
)  # fmt: skip
GATE_COST = rule("gate_cost", 10, "what a gated word costs a network, in products of its channels")
LAST_LOOK = rule(
    "last_look", (2, 0.3), "epochs on all rows, and their learning rate in multiples of the usual, for a network that "
    "was trained without the held-out rows",
)  # fmt: skip
FEWER_ROWS = rule(
    "most_rows_low_effort", 2000, "words of more rows are not followed: a third less time a row, and nothing lost",
    "eurlex57k-bow, rows split off train",
)  # fmt: skip

# Sizes ---------------------------------------------------------------------------------------------------------------

MANY_LABELS = rule(
    "many_labels", 4000, "labels from which the code leaves rare ones to neighbours", f"{_RECIPE}: debdeps"
)
CODE_SIZE = rule(
    "code_size", 400, "enough for common labels; neighbours find the others", "DESIGN, section 2: eurlex57k"
)
CODE_OF_FEW = rule(
    "code_of_few_labels", (200, 2), "half of the labels suffice, but not fewer than the first",
    "debtags, 598 labels, held-out runs: 64.14 with 400, 64.06 with 300, in five eighths of the time",
)  # fmt: skip
CODE_SIZE_LOW = rule("code_size_low_effort", (100, 200), "a sixth of the labels, within these bounds")
ROWS_OF_A_PAIR = rule(
    "rows_of_a_pair", 2, "times as many texts as a single word must have: rarer pairs of words say no more than their "
    "words, and are half of all features", "debtags: 204,061 -> 96,047 features, leave-one-out +.15, standard error .06"
)  # fmt: skip
MOST_WORD_BYTES = rule("most_word_bytes", 2**29, "of the word table of a network with a longer code")
ITERATIONS = rule(
    "iterations", (12, 8), "of the closed-form start, at full and low effort: with 8, P@k is the same",
    "amazon-670k x .02, bibtex and tmdb-plots, two seeds",
)  # fmt: skip
PROPOSED = rule(
    "proposed", (20, 40), "labels that a component proposes for a row: the second where labels, or those of a row, are "
    "many", "the stacker on rows split off train: debtags 84.6 60.2 46.2 with 40, 84.7 60.0 46.2 with 20; "
    "eurlex57k-bow 88.9 76.9 62.6 and 88.8 77.0 62.6; recall@50 of eurlex57k",
)  # fmt: skip
MANY_LABELS_A_ROW = rule("many_labels_a_row", 8, "a component proposes a few times as many as rows have")
PROPOSED_LOW = rule("proposed_low_effort", (20, 30), "of up to, and of more than 1,000 labels")
CODE_SUPPORT = rule(
    "code_support", 5, "rows of a label that the code proposes, where labels are many", f"{_RECIPE}: debdeps"
)
CODE_SUPPORT_LOW = rule("code_support_low_effort", 40, "the same at low effort", f"{_RECIPE}: debdeps")
FEWEST_COMMON = rule("fewest_common", 500, "the code proposes so many of the most frequent labels in any case")
TUNING_EPOCHS = rule("tuning_epochs", (10, 5), "few and many labels; the best epoch is kept, so more only cost time")
RANDOM_NEGATIVES = rule("random_negatives", (20, 40), "few and many labels", f"{_RECIPE}: the rankers' negatives")
RANDOM_NEGATIVES_LOW = rule(
    "random_negatives_low_effort", 10, "of 40, 20 and 10, average precision is the same on held-out rows, and rankers "
    "take two thirds of the time", "amazon-670k x .02",
)  # fmt: skip
ROWS_A_WORD = rule(
    "rows_a_word", 10, "rows a feature from which on nothing is memorised: the network has no closed-form path",
    "delicious-xmc and bibtex, rows split off train",
)  # fmt: skip
WORD_SIZE = rule("word_size", (200, 200), "channels of the network: few and many rows a feature", "the same")
NETWORK_EPOCHS = rule("network_epochs", (8, 6, 10), "few and many labels; many rows a feature", "the same")
SEEN_LABELS = rule(
    "seen_labels", (1500, 1000), "with more labels than the first, a step of the network looks at the second",
    "eurlex57k-bow, rows split off train",
)  # fmt: skip
PAPER_SEEN_LABELS = rule(
    "paper_seen_labels", (8000, 4000), "the same for the preset paper, which looks at all labels as long as it can",
    "a step on 128 rows and 36,468 labels: 252 ms, with 4,000 of them 31 ms",
)  # fmt: skip
WORD_DROPOUT = rule(
    "word_dropout", (0.3, 0.5, 0.1), "short rows, rows of over 25 words (which say things often), and dense rows",
    f"{_RECIPE}: dense features",
)  # fmt: skip
LONG_ROW = rule("long_row", 25, "words of a row from which more of it is hidden from a step")
NETWORK_BATCH = rule(
    "network_batch", (256, 64, 4000), "few and many rows a feature; data of fewer rows than the last needs its steps"
)  # fmt: skip

# Evidence ------------------------------------------------------------------------------------------------------------

FEWEST_ROWS = rule("fewest_rows", 100, "fewer rows teach a stacker nothing")
HIDDEN_WORDS = rule(
    "hidden_words", 0.5, "share of the words that a row of a single label is scored without",
    "tests/recipe/test_evidence.py",
)  # fmt: skip
MOST_SINGLE = rule("most_single_label_rows", 6000, "of these rows; more teach nothing new")
STACKERS = rule("stackers", (4, 1), "that are averaged, at full and low effort", "docs/scale.md")
STACKER_STEPS = rule("stacker_steps", (2400, 1200), "at full and low effort", "docs/scale.md")
STACKERS_OF_HALVES = rule("stackers_of_halves", (2, 1), "the same for those that rank the other half of held-out rows")

# Choices -------------------------------------------------------------------------------------------------------------

RIDGES = rule("ridges", (0.3, 1.0, 2.0, 4.0), "tried on held-out rows")
CHANCE = rule(
    "ridge_chance", 2, "standard errors by which a stronger ridge may be worse than the best: part of the rows, which "
    "settings are compared on, favours a weak one",
    "debtags: a sample favours 1 over 2 by .11 and .36, all rows by .10 and -.10 (standard errors .1)",
)  # fmt: skip
TRUSTED_RIDGES = rule(
    "trusted_ridges", (1.0, 3.0, 10.0, 30.0), "tried on trusted rows: noise wants more", "docs/noise.md"
)
MOST_ROUNDS = rule("most_noise_rounds", 2, "rounds of label correction that are tried", "docs/noise.md")
SHORT_CODE = rule("short_code", 64, "a short code suffices to compare settings")
GAIN_OF_EMBEDDINGS = rule(
    "gain_of_embeddings", 0.6, "points of precision that embeddings must be worth: they take time",
    "debtags: half a point by leave-one-out scores was worth nothing to the whole model",
)  # fmt: skip
GAIN_OF_PIECES = rule(
    "gain_of_pieces", 0.5, "points of precision that pieces of words must be worth",
    "debdeps gains 2; debtags a quarter, worth nothing to the whole model",
)  # fmt: skip
GAIN_OF_CHARACTERS = rule(
    "gain_of_characters", 0.6, "the same for runs of characters, for every `characters_a_gain` that the texts hold",
    "tmdb-plots gains .9, and 1.6 points of P@1 with the whole model; debtags .8, worth nothing to it",
)  # fmt: skip
CHARACTERS_A_GAIN = rule(
    "characters_a_gain", 6_000_000, "the more characters, the more time and memory their runs take: five times those "
    "of words", "tmdb-plots, rows split off train: 23 s in place of 11"
)  # fmt: skip
CHARACTERS_FROM = rule(
    "characters_from", 0.12, "share of words that stand in no second text, of 2,000, from which runs of characters are "
    "tried at low effort: inflected and compound languages have many", "tmdb-plots .08, debtags .09, debdeps .11"
)  # fmt: skip
MOST_READ_BY_CHARACTERS = rule(
    "most_read_by_characters", 60_000_000, "characters of all texts beyond which their runs would take too much memory"
)
GAIN_OF_VECTORS = rule("gain_of_vectors", 0.3, "the same for vectors beside words: rows get longer, predictions slower")
COSTS = rule(
    "ranker_costs", (0.3, 1.0, 3.0), "C of the rankers that held-out rows choose between: the next is tried where the "
    "last was worth it", f"{_RECIPE}: the rankers' cost",
)  # fmt: skip
GAIN_OF_COST = rule(
    "gain_of_cost", 0.4, "points of average precision that the higher cost must be worth: those that fit less err less "
    "alike", f"{_RECIPE}: eurlex57k-bow and debtags",
)  # fmt: skip
COST_SAMPLE = rule(
    "ranker_cost_sample", (7, 100, 2500), "every 7th label by frequency tells, but not fewer than 100 labels, nor many "
    "more than 2,500"
)  # fmt: skip
TRUSTED_COSTS = rule("trusted_ranker_costs", (0.1, 0.3, 1.0), "the noisier the labels, the lower", "docs/noise.md")


def table() -> str:
    """All rules, one line each."""
    return "\n".join(f"{name:24} {one.value!s:22} {one.reason} [{one.run}]" for name, one in RULES.items())


if __name__ == "__main__":
    from rankae.recipe import rules  # with what other files entered into it; this file, run by -m, is a second copy

    print(rules.table())
