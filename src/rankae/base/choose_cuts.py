"""Chooses cuts on held-out rows: for the best F1, a target precision, a guaranteed recall, or the true number of
labels.

The entries are sorted by probability once; every figure is then a cumulative sum.

A target precision or recall is a promise about new rows, which may resemble no training row. Near-duplicates of
training rows, which are ranked better than new rows, are therefore left out for these aims.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rankae.base.cuts import Cuts
from rankae.base.held_out import HeldOut
from rankae.errors import DataError
from rankae.metrics.f1 import f1

AIMS = ("f1", "precision", "recall", "count")
_FEWEST_LABELS = 20  # above a cut, to estimate its precision
_FEWEST_POSITIVES = 10  # held-out rows of a label, to choose a cut of its own
_SHRINKAGE = 20  # positives at which a label's own cut and the overall cut have equal weight
_BEYOND_CHANCE = 3  # standard errors: a share of hits is looked at above many cuts
_CURVE = (0.02, 0.05, *(i / 10 for i in range(1, 10)), 0.95, 0.98)


@dataclass(frozen=True)
class Aim:
    """The aim of a cut: "f1", "count", "precision=0.9" or "recall=0.8"."""

    name: str
    value: float = 0.0

    @classmethod
    def parse(cls, text: str) -> Aim:
        name, _, value = (side.strip() for side in text.partition("="))
        try:
            aim = cls(name, float(value) if value else 0.0)
        except ValueError:
            aim = cls("", 0.0)
        if aim.name not in AIMS or bool(value) != aim.promises or (aim.promises and not 0 < aim.value < 1):
            raise DataError(f"the aim is {text!r}; give f1, count, precision=0.9 or recall=0.8 (a share below 1)")
        return aim

    @property
    def promises(self) -> bool:
        """Whether the aim is a target to reach rather than a figure to maximise."""
        return self.name in ("precision", "recall")

    def __str__(self) -> str:
        return f"{self.name}={self.value:g}" if self.value else self.name


@dataclass(frozen=True)
class Ranked:
    """Predicted labels of held-out rows in descending order of probability.

    probabilities, hits, columns, rows : of each entry.
    held_out : the rows.
    """

    probabilities: np.ndarray
    hits: np.ndarray
    columns: np.ndarray
    rows: np.ndarray
    held_out: HeldOut

    @classmethod
    def of(cls, held_out: HeldOut, probabilities: np.ndarray, aim: Aim | None = None) -> Ranked:
        """The entries of the rows that count for an aim."""
        if aim is not None and aim.promises:
            novel = held_out.novel()
            held_out, probabilities = held_out.taken(novel), probabilities[novel]
        row, rank = np.nonzero(held_out.columns >= 0)
        p = probabilities[row, rank]
        order = np.argsort(-p, kind="stable")
        row, rank = row[order], rank[order]
        return cls(p[order], held_out.hits[row, rank], held_out.columns[row, rank], row, held_out)

    @property
    def true_labels(self) -> int:
        return self.held_out.labels.nnz

    def ends(self) -> np.ndarray:
        """Index of the last entry of each distinct probability, since a cut never separates equal probabilities."""
        return np.flatnonzero(np.append(np.diff(self.probabilities) < 0, True))

    def figures(self, cut: float) -> dict[str, float]:
        """Precision, recall, micro-F1, share of rows with a label, and labels per row at a cut."""
        n = int((self.probabilities >= np.float32(cut)).sum())
        return self._figures(self.hits[:n].sum(), n, len(np.unique(self.rows[:n])))

    def figures_of(self, cuts: Cuts) -> dict[str, float]:
        chosen = cuts.selected(self.columns[:, None], self.probabilities[:, None])[:, 0]
        return self._figures(self.hits[chosen].sum(), int(chosen.sum()), len(np.unique(self.rows[chosen])))

    def recall_of_rows(self, cuts: Cuts) -> float:
        """The mean over rows of the share of the row's labels that pass; 1 for rows without labels."""
        chosen = cuts.selected(self.columns[:, None], self.probabilities[:, None])[:, 0]
        counts = np.diff(self.held_out.labels.indptr)
        hits = np.bincount(self.rows[chosen], weights=self.hits[chosen], minlength=len(counts))
        return 100 * float(np.where(counts > 0, hits / np.maximum(counts, 1), 1).mean())

    def _figures(self, hits: float, given: int, rows: int) -> dict[str, float]:
        return {
            "precision": 100 * float(hits) / max(1, given),
            "recall": 100 * float(hits) / max(1, self.true_labels),
            "micro-F1": 200 * float(hits) / max(1, given + self.true_labels),
            "coverage": 100 * rows / max(1, len(self.held_out)),
            "labels_per_row": given / max(1, len(self.held_out)),
        }


def choose_cuts(held_out: HeldOut, probabilities: np.ndarray, aim: Aim, per_label: bool | None = None) -> Cuts:
    """The cuts that reach an aim on held-out rows.

    per_label : whether labels with enough positives get cuts of their own (aim f1); by default if that improves F1 in
        two-fold cross-validation.
    """
    ranked = Ranked.of(held_out, probabilities, aim)
    if not ranked.true_labels:
        raise DataError("the held-out rows carry no labels to choose a cut by")
    if per_label and aim.name != "f1":
        raise DataError("cuts for each label serve the aim f1; leave out --per-label")
    figures: dict[str, Any] = {"rows": len(ranked.held_out)}
    label_cuts = None
    if aim.name == "recall":
        overall, figures["guarantee"] = _recall_cut(ranked, aim.value)
    elif aim.name == "precision":
        overall = _precision_cut(ranked, aim.value)
    elif aim.name == "count":
        overall = _count_cut(ranked)
    else:
        overall = _f1_cut(ranked)
        if per_label is None:
            per_label = _per_label_helps(held_out, probabilities)
        label_cuts = _label_cuts(ranked, overall) if per_label else None
    cuts = Cuts(str(aim), overall, label_cuts, figures=figures)
    figures |= {name: round(value, 4) for name, value in ranked.figures_of(cuts).items()}
    if aim.name == "recall":
        figures["recall_of_rows"] = round(ranked.recall_of_rows(cuts), 4)
    figures["labels_with_own_cut"] = 0 if label_cuts is None else int((label_cuts != np.float32(overall)).sum())
    return cuts


def curve(held_out: HeldOut, probabilities: np.ndarray, cuts: Cuts) -> list[dict[str, float]]:
    """Figures at cuts between 0 and 1 that some label passes, and at the chosen cut, on the rows it was chosen on."""
    ranked = Ranked.of(held_out, probabilities, Aim.parse(cuts.aim))
    points = [{"cut": cut} | ranked.figures(cut) for cut in sorted({*_CURVE, cuts.overall})]
    return [point for point in points if point["labels_per_row"] or point["cut"] == cuts.overall]


def _f1_cut(ranked: Ranked) -> float:
    ends = ranked.ends()
    merit = f1(np.full(len(ends), ranked.true_labels), ends + 1, np.cumsum(ranked.hits)[ends])
    return _between(ranked.probabilities, ends, int(np.argmax(merit)))


def _precision_cut(ranked: Ranked, target: float) -> float:
    """The lowest cut above which both the share of hits and the mean probability reach the target.

    The mean probability is the expected precision, and varies half as much from sample to sample as the share of hits:
    a share alone is reached by luck too often. Where the two contradict each other beyond chance, hits decide.
    Among fewer than 1 / (1 - target) labels a single wrong one misses the target, so they cannot confirm it.
    """
    ends = ranked.ends()
    given, worth = ends + 1, np.cumsum(ranked.held_out.evidence()[ranked.rows])[ends]  # copies of a row count once
    fewest = max(_FEWEST_LABELS, round(1 / (1 - target)))
    enough = worth >= fewest - 1e-6
    if not enough.any():
        raise DataError(
            f"precision={target:g} takes {fewest:,} predicted labels to tell, but the {len(ranked.held_out)} held-out "
            f"rows have {worth[-1]:,.0f}, alike rows counted once; give more rows or ask for less"
        )
    observed = np.cumsum(ranked.hits)[ends] / given
    expected = np.cumsum(ranked.probabilities, dtype=np.float64)[ends] / given
    beyond_chance = np.abs(observed - expected) > _BEYOND_CHANCE * np.sqrt(target * (1 - target) / worth)
    by_hits = np.flatnonzero((observed >= target) & enough)
    by_both = by_hits[expected[by_hits] >= target]
    if len(by_both) and not beyond_chance[by_both[-1]]:
        return _between(ranked.probabilities, ends, int(by_both[-1]))
    if len(by_hits) and (len(by_both) or beyond_chance[by_hits[-1]]):
        return _between(ranked.probabilities, ends, int(by_hits[-1]))
    best = np.minimum(observed, expected)[enough].max()  # each may reach the target somewhere, but not both together
    raise DataError(
        f"precision={target:g} cannot be reached: of the {fewest:,} or more surest labels of the held-out rows "
        f"at most {best:.1%} are right; ask for less"
    )


def _count_cut(ranked: Ranked) -> float:
    ends = ranked.ends()
    return _between(ranked.probabilities, ends, int(np.argmin(np.abs(ends + 1 - ranked.true_labels))))


def _recall_cut(ranked: Ranked, target: float) -> tuple[float, str]:
    """Conformal risk control (Angelopoulos et al. 2024) of the share of a row's labels that is lost.

    The highest cut with (n loss + 1) / (n + 1) <= 1 - target, where loss is the mean over n held-out rows. The expected
    recall of a new row from the same distribution is then at least the target.
    """
    counts = np.diff(ranked.held_out.labels.indptr)
    n = len(counts)
    gain = ranked.hits / np.maximum(counts, 1)[ranked.rows]
    ends = ranked.ends()
    lost = (counts > 0).sum() - np.cumsum(gain)[ends]
    reached = np.flatnonzero(lost + 1 <= (1 - target) * (n + 1) + 1e-9)
    if not len(reached):
        places = ranked.held_out.columns.shape[1]
        raise DataError(
            f"recall={target:g} cannot be reached: with {places} labels per row the model finds "
            f"{1 - lost[-1] / n:.1%} of them on {n} held-out rows; ask for less"
        )
    end = ends[reached[0]]
    guarantee = (
        f"rows drawn like the {n} held-out ones have an expected recall of at least {target:g} "
        "(conformal risk control; on average over rows, not for each label)"
    )
    return float(ranked.probabilities[end]), guarantee


def _label_cuts(ranked: Ranked, overall: float) -> np.ndarray:
    """A cut for each label by its own F1, shrunk towards the overall cut: the fewer positives, the more."""
    labels = ranked.held_out.labels
    support = np.bincount(labels.indices, minlength=labels.shape[1])
    cuts = np.full(labels.shape[1], overall, dtype=np.float32)
    order = np.lexsort((-ranked.probabilities, ranked.columns))
    columns, p, hits = ranked.columns[order], ranked.probabilities[order], ranked.hits[order]
    starts = np.searchsorted(columns, np.arange(labels.shape[1] + 1))
    middle = _log_odds(overall)
    for label in np.flatnonzero(support >= _FEWEST_POSITIVES):
        entries = slice(starts[label], starts[label + 1])
        if entries.start == entries.stop:
            continue
        ends = np.flatnonzero(np.append(np.diff(p[entries]) < 0, True))
        merit = f1(np.full(len(ends), support[label]), ends + 1, np.cumsum(hits[entries])[ends])
        best = _between(p[entries], ends, int(np.argmax(merit)))
        weight = support[label] / (support[label] + _SHRINKAGE)
        odds = weight * _log_odds(best) + (1 - weight) * middle
        cuts[label] = 1 / (1 + np.exp(-odds))
    return cuts


def _per_label_helps(held_out: HeldOut, probabilities: np.ndarray) -> bool:
    """Whether cuts for each label improve the sum of micro- and macro-F1 in two-fold cross-validation."""
    from rankae.metrics.f1 import Selection

    gain = 0.0
    first = held_out.first_half()
    for learn, check in ((first, ~first), (~first, first)):
        ranked = Ranked.of(held_out.taken(learn), probabilities[learn])
        if not ranked.true_labels:
            return False
        overall = _f1_cut(ranked)
        held_out_half = held_out.taken(check)
        for sign, label_cuts in ((-1, None), (1, _label_cuts(ranked, overall))):
            selected = Cuts("f1", overall, label_cuts).selected(held_out_half.columns, probabilities[check])
            measures = Selection.of(held_out_half.columns, selected, held_out_half.labels).measures()
            gain += sign * (measures["micro-F1"] + measures["macro-F1"])
    return gain > 0


def _between(p: np.ndarray, ends: np.ndarray, chosen: int) -> float:
    """The cut halfway between the last entry that passes and the first that does not."""
    passes = float(p[ends[chosen]])
    fails = float(p[ends[chosen + 1]]) if chosen + 1 < len(ends) else 0.0
    return (passes + fails) / 2


def _log_odds(p: float) -> float:
    p = min(max(p, 1e-6), 1 - 1e-6)
    return float(np.log(p / (1 - p)))
