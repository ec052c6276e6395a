"""Near-duplicates among the rows, and held-out rows that tell how a model does on what it has not seen.

Packages of one source, versions of one law, products of one series: training data is full of near-duplicates, and a row
whose copy is in the training part is no test of anything but memory. Whether the rows to come are copies too, nobody
knows. So half of the held-out rows are drawn from all rows, and half from those without one, and whoever learns
from them is told how near a training row is.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

_ALIKE = 0.8  # cosine from which two rows are near-duplicates
_ENOUGH_ROWS = 6000  # held-out rows beyond this teach nothing new
_SHARE = 0.15
_FIFTHS = 5
_ENOUGH_IN_FIFTHS = 2400  # held-out rows; bibtex and tmdb-plots, rows split off train: with more nothing was gained
_ENOUGH_TO_COMPARE = 10_000  # rows that settings are compared on


def sample_to_compare(rows: int, seed: int = 0) -> np.ndarray:
    """Places, ascending, of the rows that settings are compared on: all of them, or enough."""
    return np.sort(np.random.default_rng(seed).permutation(rows)[:_ENOUGH_TO_COMPARE])


def novel_rows(rows: sp.csr_matrix, among: sp.csr_matrix | None = None) -> np.ndarray:
    """Places of the rows without a near-duplicate; all rows, if fewer than a fifth are without.

    Settings must be compared on the same rows: what is one depends on the features, so ask once, not for each.

    among : where to look for copies; by default among the rows themselves.
    """
    from rankae.numerics.row_search import RowSearch  # torch takes a while to import

    others = rows if among is None else among
    return novel_places(RowSearch.over(others).nearest(rows, 1, leave_one_out=among is None)[1][:, 0])


def novel_places(nearest: np.ndarray) -> np.ndarray:
    """`novel_rows` by the cosine of each row's nearest other row, 0 if nobody looked."""
    novel = np.flatnonzero(nearest <= _ALIKE)
    return novel if 5 * len(novel) >= len(nearest) else np.arange(len(nearest))


def held_out_sizes(n: int) -> list[int]:
    """How many of n rows each fold holds out.

    One fold of 15 % where that is enough. Else fifths, as few as are enough: everything is trained once more for each.
    """
    if n * _SHARE >= _ENOUGH_ROWS / 4:
        return [min(_ENOUGH_ROWS, int(_SHARE * n))]
    folds = min(_FIFTHS, -(-_ENOUGH_IN_FIFTHS * _FIFTHS // max(1, n)))
    return [len(range(f, n, _FIFTHS)) for f in range(folds)]


def held_out_folds(nearest: np.ndarray, seed: int) -> np.ndarray:
    """The fold in which each row is held out, -1 for rows that never are; see `held_out_sizes`.

    nearest : the cosine of each row's nearest other row; zeros if nobody looked.
    """
    n = len(nearest)
    rng = np.random.default_rng(seed)
    sizes = held_out_sizes(n)
    if len(sizes) > 1:
        of_fifths = np.arange(n) % _FIFTHS
        return rng.permutation(np.where(of_fifths < len(sizes), of_fifths, -1)).astype(np.int8)
    fold, wanted = np.full(n, -1, dtype=np.int8), sizes[0]
    fold[rng.permutation(novel_places(nearest))[: wanted // 2]] = 0
    fold[rng.permutation(np.flatnonzero(fold < 0))[: wanted - (fold == 0).sum()]] = 0
    return fold
