"""Cuts from held-out rows: the best F1, a wanted precision, recall with a guarantee, or as many labels as there are.

All cuts are read off one prediction: entries are sorted by probability once, and every figure is a running sum.

A wanted precision or recall is a promise about rows to come, and those may resemble no training row. Near-duplicates of
training rows are ranked too well to promise by, so they do not count for these aims.
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
_FEWEST_LABELS = 20  # above a cut of which a precision is told
_FEWEST_POSITIVES = 10  # held-out rows that carry a label, for a cut of its own
_SHRINKAGE = 20  # positives for which a label's own cut counts as much as the one of all labels
_CURVE = (0.02, 0.05, *(i / 10 for i in range(1, 10)), 0.95, 0.98)


@dataclass(frozen=True)
class Aim:
    """What a cut is chosen for: "f1", "count", "precision=0.9" or "recall=0.8"."""

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
        """Whether a figure is to be reached, not the best one found."""
        return self.name in ("precision", "recall")

    def __str__(self) -> str:
        return f"{self.name}={self.value:g}" if self.value else self.name


@dataclass(frozen=True)
class Ranked:
    """Held-out entries in falling order of probability, and what each carries.

    probabilities, hits, columns, rows : of each entry.
    held_out : where they come from.
    """

    probabilities: np.ndarray
    hits: np.ndarray
    columns: np.ndarray
    rows: np.ndarray
    held_out: HeldOut

    @classmethod
    def of(cls, held_out: HeldOut, probabilities: np.ndarray, aim: Aim | None = None) -> Ranked:
        """The rows that an aim is reached on."""
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
        """Places of the last entry of each distinct probability: a cut passes all entries of one probability."""
        return np.flatnonzero(np.append(np.diff(self.probabilities) < 0, True))

    def figures(self, cut: float) -> dict[str, float]:
        """Precision, recall, micro-F1, share of rows with a label, and labels per row at a cut."""
        n = int((self.probabilities >= np.float32(cut)).sum())
        return self._figures(self.hits[:n].sum(), n, len(np.unique(self.rows[:n])))

    def figures_of(self, cuts: Cuts) -> dict[str, float]:
        chosen = cuts.selected(self.columns[:, None], self.probabilities[:, None])[:, 0]
        return self._figures(self.hits[chosen].sum(), int(chosen.sum()), len(np.unique(self.rows[chosen])))

    def recall_of_rows(self, cuts: Cuts) -> float:
        """The share of a row's labels that pass, on average over rows; all are found where a row carries none."""
        chosen = cuts.selected(self.columns[:, None], self.probabilities[:, None])[:, 0]
        counts = np.diff(self.held_out.labels.indptr)
        found = np.bincount(self.rows[chosen], weights=self.hits[chosen], minlength=len(counts))
        return 100 * float(np.where(counts > 0, found / np.maximum(counts, 1), 1).mean())

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

    per_label : whether labels with enough positives get cuts of their own (aim f1); by default if each half of the rows
        says so of the cuts of the other.
    """
    ranked = Ranked.of(held_out, probabilities, aim)
    if not ranked.true_labels:
        raise DataError("the held-out rows carry no labels to choose a cut by")
    if per_label and aim.name != "f1":
        raise DataError("cuts for each label serve the aim f1; leave out --per-label")
    told: dict[str, Any] = {"rows": len(ranked.held_out)}
    own = None
    if aim.name == "recall":
        overall, told["guarantee"] = _recall_cut(ranked, aim.value)
    elif aim.name == "precision":
        overall = _precision_cut(ranked, aim.value)
    elif aim.name == "count":
        overall = _count_cut(ranked)
    else:
        overall = _f1_cut(ranked)
        if per_label is None:
            per_label = _per_label_helps(held_out, probabilities)
        own = _own_cuts(ranked, overall) if per_label else None
    cuts = Cuts(str(aim), overall, own, told=told)
    told |= {name: round(value, 4) for name, value in ranked.figures_of(cuts).items()}
    if aim.name == "recall":
        told["recall_of_rows"] = round(ranked.recall_of_rows(cuts), 4)
    told["labels_with_own_cut"] = 0 if own is None else int((own != np.float32(overall)).sum())
    return cuts


def curve(held_out: HeldOut, probabilities: np.ndarray, cuts: Cuts) -> list[dict[str, float]]:
    """Figures at cuts between 0 and 1, and at the chosen one, on the rows that it was chosen on."""
    ranked = Ranked.of(held_out, probabilities, Aim.parse(cuts.aim))
    return [{"cut": cut} | ranked.figures(cut) for cut in sorted({*_CURVE, cuts.overall})]


def _f1_cut(ranked: Ranked) -> float:
    ends = ranked.ends()
    merit = f1(np.full(len(ends), ranked.true_labels), ends + 1, np.cumsum(ranked.hits)[ends])
    return _between(ranked.probabilities, ends, int(np.argmax(merit)))


def _precision_cut(ranked: Ranked, wanted: float) -> float:
    """The lowest cut above which the share of true labels is as wanted, told by enough labels.

    Of fewer than 1 / (1 - wanted) labels a single wrong one would break the promise: that none is says nothing.
    """
    ends = ranked.ends()
    fewest = max(_FEWEST_LABELS, round(1 / (1 - wanted)))
    precision = np.cumsum(ranked.hits)[ends] / (ends + 1)
    told = ends + 1 >= fewest
    if not told.any():
        raise DataError(
            f"precision={wanted:g} takes {fewest:,} predicted labels to tell, but the {len(ranked.held_out)} held-out "
            f"rows have {len(ranked.hits):,}; give more rows or ask for less"
        )
    reached = np.flatnonzero((precision >= wanted) & told)
    if not len(reached):
        raise DataError(
            f"precision={wanted:g} cannot be reached: of the {fewest:,} or more surest labels of the held-out rows "
            f"at most {precision[told].max():.1%} are right; ask for less"
        )
    return _between(ranked.probabilities, ends, int(reached[-1]))


def _count_cut(ranked: Ranked) -> float:
    ends = ranked.ends()
    return _between(ranked.probabilities, ends, int(np.argmin(np.abs(ends + 1 - ranked.true_labels))))


def _recall_cut(ranked: Ranked, wanted: float) -> tuple[float, str]:
    """Conformal risk control (Angelopoulos and others 2024) of the share of a row's labels that is lost.

    The highest cut for which (n loss + 1) / (n + 1) <= 1 - wanted, with the mean loss over n held-out rows: for a new
    row that is drawn like those, the expected recall is then at least `wanted`.
    """
    counts = np.diff(ranked.held_out.labels.indptr)
    n = len(counts)
    gain = ranked.hits / np.maximum(counts, 1)[ranked.rows]
    ends = ranked.ends()
    lost = (counts > 0).sum() - np.cumsum(gain)[ends]
    reached = np.flatnonzero(lost + 1 <= (1 - wanted) * (n + 1) + 1e-9)
    if not len(reached):
        places = ranked.held_out.columns.shape[1]
        raise DataError(
            f"recall={wanted:g} cannot be reached: with {places} labels per row the model finds "
            f"{1 - lost[-1] / n:.1%} of them on {n} held-out rows; ask for less"
        )
    end = ends[reached[0]]
    guarantee = (
        f"rows drawn like the {n} held-out ones have an expected recall of at least {wanted:g} "
        "(conformal risk control; on average over rows, not for each label)"
    )
    return float(ranked.probabilities[end]), guarantee


def _own_cuts(ranked: Ranked, overall: float) -> np.ndarray:
    """A cut for each label by its own F1, drawn to that of all labels the more, the fewer positives there are."""
    labels = ranked.held_out.labels
    support = np.bincount(labels.indices, minlength=labels.shape[1])
    cuts = np.full(labels.shape[1], overall, dtype=np.float32)
    order = np.lexsort((-ranked.probabilities, ranked.columns))
    columns, p, hits = ranked.columns[order], ranked.probabilities[order], ranked.hits[order]
    starts = np.searchsorted(columns, np.arange(labels.shape[1] + 1))
    middle = _log_odds(overall)
    for label in np.flatnonzero(support >= _FEWEST_POSITIVES):
        own = slice(starts[label], starts[label + 1])
        if own.start == own.stop:
            continue
        ends = np.flatnonzero(np.append(np.diff(p[own]) < 0, True))
        merit = f1(np.full(len(ends), support[label]), ends + 1, np.cumsum(hits[own])[ends])
        best = _between(p[own], ends, int(np.argmax(merit)))
        weight = support[label] / (support[label] + _SHRINKAGE)
        odds = weight * _log_odds(best) + (1 - weight) * middle
        cuts[label] = 1 / (1 + np.exp(-odds))
    return cuts


def _per_label_helps(held_out: HeldOut, probabilities: np.ndarray) -> bool:
    """Whether cuts for each label raise the sum of micro- and macro-F1 on rows that they were not chosen on."""
    from rankae.metrics.f1 import Selection

    gain = 0.0
    first = np.arange(len(held_out)) % 2 == 0
    for learn, check in ((first, ~first), (~first, first)):
        ranked = Ranked.of(held_out.taken(learn), probabilities[learn])
        if not ranked.true_labels:
            return False
        overall = _f1_cut(ranked)
        others = held_out.taken(check)
        for sign, own in ((-1, None), (1, _own_cuts(ranked, overall))):
            given = Cuts("f1", overall, own).selected(others.columns, probabilities[check])
            found = Selection.of(others.columns, given, others.labels).measures()
            gain += sign * (found["micro-F1"] + found["macro-F1"])
    return gain > 0


def _between(p: np.ndarray, ends: np.ndarray, chosen: int) -> float:
    """A cut between the last entry that passes and the first that does not."""
    passes = float(p[ends[chosen]])
    fails = float(p[ends[chosen + 1]]) if chosen + 1 < len(ends) else 0.0
    return (passes + fails) / 2


def _log_odds(p: float) -> float:
    p = min(max(p, 1e-6), 1 - 1e-6)
    return float(np.log(p / (1 - p)))
