"""Folds in which near-duplicates stay together."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

_ALIKE = 0.8  # cosine from which two rows are near-duplicates
NEAREST = 10  # rows that are looked at for each row
_LARGEST = 0.5  # of a fold; a chain of near-duplicates that is longer is cut where they are less alike


def grouped_folds(found: np.ndarray, cosine: np.ndarray, folds: int, seed: int = 0) -> np.ndarray:
    """The fold of each row; groups of near-duplicates go, the largest first, to the fold that has fewest rows.

    found, cosine : the nearest other rows of each row.
    """
    n = len(found)
    alike, group = _ALIKE, np.arange(n)
    for alike in (_ALIKE, 0.9, 0.97):
        group = near_duplicate_groups(found, cosine, alike)
        if np.bincount(group).max() <= max(1, _LARGEST * n / folds):
            break
    sizes = np.bincount(group)
    # Among groups of one size the order is chance, so that folds do not follow the order of the file.
    order = np.lexsort((np.random.default_rng(seed).random(len(sizes)), -sizes))
    filled, fold_of_group = np.zeros(folds, dtype=np.int64), np.empty(len(sizes), dtype=np.int8)
    for g in order:
        least = int(np.argmin(filled))
        fold_of_group[g] = least
        filled[least] += sizes[g]
    return fold_of_group[group]


def near_duplicate_groups(found: np.ndarray, cosine: np.ndarray, alike: float = _ALIKE) -> np.ndarray:
    """A number for each row, the same for rows that a chain of near-duplicates joins."""
    row, place = np.nonzero((found >= 0) & (cosine >= alike))
    pairs = sp.csr_matrix((np.ones(len(row), np.int8), (row, found[row, place])), shape=(len(found),) * 2)
    return connected_components(pairs, directed=False)[1]
