"""Near-duplicates among the rows, and held-out rows that tell how a model does on what it has not seen.

Packages of one source, versions of one law, products of one series: training data is full of near-duplicates, and a row
whose copy is in the training part is no test of anything but memory. Whether the rows to come are copies too, nobody
knows. So every second group of alike rows is held out as a whole, as if the model had never met their like, and of the
others single rows are; whoever learns from them is told how near a training row is.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numba import njit

_ALIKE = 0.8  # cosine from which two rows are near-duplicates
_OF_A_GROUP = 0.5  # cosine from which they are of one group: packages of one source, films of one series
_MOST_OF_A_GROUP = 50  # rows; of chains of alike rows the ends are strangers
_TOGETHER = 0.5  # the share of groups that are held out whole
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


def held_out_folds(groups: np.ndarray, seed: int) -> np.ndarray:
    """The fold in which each row is held out, -1 for rows that never are; see `held_out_sizes`.

    groups : of each row, from 0 on, see `alike_groups`. The last group of a fold may be cut in two.
    """
    rng = np.random.default_rng(seed)
    n, count = len(groups), int(groups.max(initial=-1)) + 1
    together = rng.random(count) < _TOGETHER
    place = np.where(together[groups], rng.random(count)[groups], rng.random(n))
    sizes = held_out_sizes(n)
    fold = np.full(n, -1, dtype=np.int8)
    fold[np.argsort(place, kind="stable")[: sum(sizes)]] = np.repeat(np.arange(len(sizes)), sizes)
    return fold


def alike_groups(nearest: np.ndarray, cosine: np.ndarray) -> np.ndarray:
    """The group of each row, from 0 on: rows that are alike, or alike to one that is; the most alike join first.

    nearest, cosine : the rows nearest to each row, padded with -1, and how near they are.
    """
    row, place = np.nonzero((nearest >= 0) & (cosine > _OF_A_GROUP))
    most_alike = np.argsort(-cosine[row, place], kind="stable")
    first_row = np.arange(len(nearest))
    _join(row[most_alike], nearest[row, place][most_alike], _MOST_OF_A_GROUP, first_row)
    return np.unique(first_row, return_inverse=True)[1]


@njit(cache=True)
def _join(ones, others, most, group):
    """Join the groups of each pair in turn, unless they have more than `most` rows together (union-find)."""
    size = np.ones(len(group), np.int64)
    for pair in range(len(ones)):
        a, b = _root(group, ones[pair]), _root(group, others[pair])
        if a != b and size[a] + size[b] <= most:
            group[b] = a
            size[a] += size[b]
    for row in range(len(group)):
        group[row] = _root(group, row)


@njit(cache=True)
def _root(group, row):
    while group[row] != row:
        group[row] = group[group[row]]
        row = group[row]
    return row
