"""Pairs of labels that are probably the same, or of which one always brings the other; labels that nobody predicts."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from difflib import SequenceMatcher

import numpy as np
import scipy.sparse as sp

from rankae.audit.noise_rates import wilson
from rankae.audit.out_of_fold import Entries
from rankae.data.unit_length import unit_rows
from rankae.numerics.row_search import RowSearch

_FEWEST_ROWS = 10  # that carry a label
_FEWEST_TO_COMPARE = 3  # rows of a label whose mean words tell anything
_SAME_ROWS = 0.8  # Jaccard index of the rows of two labels
_IMPLIES = 0.9  # lower limit of the share of a label's rows that carry the other
_SAME_WORDS = 0.9  # cosine of the mean words of two labels' rows
_SPELLING = 0.85
_UNPREDICTABLE = 0.1  # of a label's rows are found among as many surest ones


@dataclass(frozen=True)
class Relation:
    """kind : "synonym", or "implies": rows with `label` carry `other` as well."""

    kind: str
    label: int
    other: int
    rows: int
    shared: float
    words: float
    spelling: float

    @property
    def strength(self) -> float:
        return max(self.shared, self.words * self.spelling)


def related_labels(rows: sp.csr_matrix, labels: sp.csr_matrix, names: list[str], most: int = 200) -> list[Relation]:
    """Probable synonyms (same rows; or same words and spelling) and implications, the surest first.

    rows : weighted words of unit length.
    """
    counts = np.bincount(labels.indices, minlength=labels.shape[1])
    means = unit_rows(sp.csr_matrix(labels.T @ rows, dtype=np.float32))
    together = sp.triu(labels.T @ labels, 1).tocoo()
    pairs = {
        (int(a), int(b)): int(n) for a, b, n in zip(together.row, together.col, together.data, strict=True) if n > 2
    }
    for pair in _alike_in_words(means) | _alike_in_spelling(names):
        pairs.setdefault(pair, 0)
    found = []
    for (a, b), n in pairs.items():
        if not counts[a] or not counts[b]:
            continue
        shared = n / (counts[a] + counts[b] - n)
        same = shared >= _SAME_ROWS and min(counts[a], counts[b]) >= _FEWEST_ROWS
        few, many = (a, b) if counts[a] <= counts[b] else (b, a)
        implied = counts[few] >= _FEWEST_ROWS and wilson(n, counts[few]).low >= _IMPLIES
        candidate = not n or same
        if not candidate and not implied:
            continue
        words = float(means[a].multiply(means[b]).sum())
        spelling = _spelling(names[a], names[b])
        comparable = min(counts[a], counts[b]) >= _FEWEST_TO_COMPARE
        alike = (comparable and words >= _SAME_WORDS and spelling >= _SPELLING) or spelling == 1
        if same or (not n and alike):
            found.append(Relation("synonym", a, b, n, shared, words, spelling))
        elif implied:
            found.append(Relation("implies", few, many, n, n / counts[few], words, spelling))
    by_kind = {kind: [r for r in found if r.kind == kind] for kind in ("synonym", "implies")}
    return [r for own in by_kind.values() for r in sorted(own, key=lambda r: (-r.strength, -r.rows))[:most]]


def _alike_in_words(means: sp.csr_matrix) -> set[tuple[int, int]]:
    found, cosine = RowSearch.over(means).nearest(means, 5, leave_one_out=True)
    label, place = np.nonzero((cosine >= _SAME_WORDS) & (found >= 0))
    return {(min(a, b), max(a, b)) for a, b in zip(label.tolist(), found[label, place].tolist(), strict=True)}


def _alike_in_spelling(names: list[str]) -> set[tuple[int, int]]:
    same: dict[str, list[int]] = defaultdict(list)
    for i, name in enumerate(names):
        if plain := _plain(name):
            same[plain].append(i)
    return {(a, b) for own in same.values() for i, a in enumerate(own) for b in own[i + 1 :]}


def _plain(name: str) -> str:
    """The name without case, punctuation and plural."""
    return re.sub(r"(?<=\w{3})s\b", "", re.sub(r"[\W_]+", "", name.casefold()))


def _spelling(a: str, b: str) -> float:
    a, b = _plain(a), _plain(b)
    if a == b:
        return 1.0 if a else 0.0
    return SequenceMatcher(None, a, b).ratio()


def unpredictable_labels(entries: Entries, labels: int) -> list[tuple[int, int, float]]:
    """(label, rows, share found): labels whose rows are hardly among the surest, as many as there are; worst first."""
    scores = np.where(entries.listed, entries.scores, -np.inf)
    order = np.lexsort((-scores, entries.columns))
    columns, observed, weight = entries.columns[order], entries.observed[order], entries.weight[order]
    starts = np.searchsorted(columns, np.arange(labels + 1))
    found = []
    for label in range(labels):
        own = slice(starts[label], starts[label + 1])
        count = int(observed[own].sum())
        if count < _FEWEST_ROWS:
            continue
        before = np.cumsum(weight[own]) <= count  # of the sample, each stands for many
        share = float(observed[own][before].sum() / count)
        if share <= _UNPREDICTABLE:
            found.append((label, count, share))
    return sorted(found, key=lambda one: (one[2], -one[1]))
