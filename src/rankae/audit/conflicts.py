"""Rows with the same or nearly the same content and different labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

_ALIKE = 0.95
_SAME = 0.9999


@dataclass(frozen=True)
class Conflict:
    """Two rows; `only` and `other_only` are label columns that just one of them carries."""

    row: int
    other: int
    cosine: float
    only: list[int]
    other_only: list[int]

    @property
    def same(self) -> bool:
        return self.cosine >= _SAME


def conflicts(found: np.ndarray, cosine: np.ndarray, labels: sp.csr_matrix, most: int) -> list[Conflict]:
    """Pairs of near-duplicates whose labels differ, the most alike and most different first."""
    row, place = np.nonzero((cosine >= _ALIKE) & (found >= 0))
    other = found[row, place]
    first, second = np.minimum(row, other), np.maximum(row, other)
    pairs, where = np.unique(np.stack([first, second], axis=1), axis=0, return_index=True)
    if not len(pairs):
        return []
    alike = np.minimum(1, cosine[row, place][where])
    a, b = labels[pairs[:, 0]], labels[pairs[:, 1]]
    common = np.asarray(a.multiply(b).sum(axis=1)).ravel()
    either = np.diff(a.indptr) + np.diff(b.indptr) - common
    apart = np.where(either > 0, 1 - common / np.maximum(either, 1), 0)
    order = np.lexsort((-apart, -np.round(alike, 2)))
    order = order[apart[order] > 0][:most]
    out = []
    for i in order:
        own, others = set(a[i].indices.tolist()), set(b[i].indices.tolist())
        x, y = pairs[i].tolist()
        out.append(Conflict(x, y, float(alike[i]), sorted(own - others), sorted(others - own)))
    return out
