"""Near copies among the rows, and held-out rows that tell how a model does on what it has not seen.

Packages of one source, versions of one law, products of one series: training data is full of near copies, and a row
whose copy is in the training part is no test of anything but memory. Whether the rows to come are copies too, nobody
knows. So half of the held-out rows are drawn one by one, and half as whole families of near copies, and whoever learns
from them is told how near a training row is.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

_ALIKE = 0.8  # cosine from which two rows are near copies
_ENOUGH_ROWS = 6000  # held-out rows beyond this teach nothing new
_SHARE = 0.15


def families(rows: sp.csr_matrix) -> np.ndarray:
    """A number for each row, the same for rows that near copies connect."""
    n = rows.shape[0]
    found, alike = _near_copies(rows, 5)
    links = sp.csr_matrix((np.ones(alike.sum()), (np.nonzero(alike)[0], found[alike])), shape=(n, n))
    return connected_components(links, directed=False)[1]


def novel_rows(rows: sp.csr_matrix) -> np.ndarray:
    """Places of the rows without a near copy; all rows, if fewer than a fifth are without."""
    novel = np.flatnonzero(~_near_copies(rows, 1)[1][:, 0])
    return novel if 5 * len(novel) >= rows.shape[0] else np.arange(rows.shape[0])


def _near_copies(rows: sp.csr_matrix, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The nearest other rows of each row, and which of them are near copies."""
    from rankae.refine.neighbours import Neighbours

    nobody = sp.csr_matrix((rows.shape[0], 1), dtype=np.float32)
    found, cosine = Neighbours(rows, nobody, count=count).nearest(rows, honest=True)
    return found, (found >= 0) & (cosine > _ALIKE)


def held_out_folds(rows: sp.csr_matrix, seed: int) -> list[np.ndarray]:
    """Rows to hold out: one fold of 15 % where that is enough, else three folds that cover every row."""
    n = rows.shape[0]
    rng = np.random.default_rng(seed)
    family = families(rows)
    rank = rng.permutation(family.max() + 1)[family]
    by_family = np.argsort(rank, kind="stable")
    if n * _SHARE < _ENOUGH_ROWS / 4:
        return np.array_split(by_family, 3)
    wanted = min(_ENOUGH_ROWS, int(_SHARE * n))
    whole = by_family[: wanted // 2]
    others = rng.permutation(np.setdiff1d(np.arange(n), whole, assume_unique=True))
    return [np.concatenate([whole, others[: wanted - len(whole)]])]
