"""Find near-duplicate rows, and split off held-out rows with regard to them.

Training data is full of near-duplicates: packages of one source, versions of one law, products of one series. A
held-out row whose copy is in the training part tests only memory, but future rows may be copies too. So half of the
groups of similar rows are held out as whole groups, and single rows are held out from the others. Models that are
fitted on held-out rows get the similarity of the nearest training row as a feature.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numba import njit

_ALIKE = 0.8  # cosine from which two rows are near-duplicates
_OF_A_GROUP = 0.5  # cosine from which two rows are in one group: packages of one source, films of one series
_MOST_OF_A_GROUP = 50  # rows; the ends of longer chains are no longer similar
_TOGETHER = 0.5  # the share of groups that are held out whole
_ENOUGH_ROWS = 6000  # more held-out rows bring no gain
_SHARE = 0.15
_FIFTHS = 5
_FEWEST_ROWS = 20  # fewer are too few to hold any out
_ENOUGH_IN_FIFTHS = 2400  # held-out rows; bibtex and tmdb-plots, rows split off train: with more nothing was gained
_ENOUGH_TO_COMPARE = 10_000  # rows that settings are compared on


def sample_to_compare(rows: int, seed: int = 0) -> np.ndarray:
    """Ascending indices of the rows on which settings are compared: all rows, or a sample of them."""
    return np.sort(np.random.default_rng(seed).permutation(rows)[:_ENOUGH_TO_COMPARE])


def novel_rows(rows: sp.csr_matrix, among: sp.csr_matrix | None = None) -> np.ndarray:
    """Indices of the rows without a near-duplicate; all rows if fewer than a fifth have none.

    The result depends on the features, so compute it once if several settings are compared on the same rows.

    among : the rows to search for copies; by default the rows themselves.
    """
    from rankae.numerics.row_search import RowSearch  # torch takes a while to import

    others = rows if among is None else among
    return novel_places(RowSearch.over(others).nearest(rows, 1, leave_one_out=among is None)[1][:, 0])


def novel_places(nearest: np.ndarray) -> np.ndarray:
    """`novel_rows`, given the cosine of each row's nearest other row (0 if it is unknown)."""
    novel = np.flatnonzero(nearest <= _ALIKE)
    return novel if 5 * len(novel) >= len(nearest) else np.arange(len(nearest))


def held_out_sizes(n: int) -> list[int]:
    """The number of rows that each fold holds out.

    One fold of 15 % if that is enough; otherwise as few folds of 20 % as are enough, because each costs a training.
    """
    if n < _FEWEST_ROWS:
        return []
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
    sizes = np.array(held_out_sizes(n), dtype=np.int64)
    fold = np.full(n, -1, dtype=np.int8)
    fold[np.argsort(place, kind="stable")[: sum(sizes)]] = np.repeat(
        np.arange(len(sizes)), np.array(sizes, dtype=np.int64)
    )
    return fold


def alike_groups(nearest: np.ndarray, cosine: np.ndarray) -> np.ndarray:
    """The group number of each row: single-linkage clusters of similar rows, where the most similar are joined first.

    nearest, cosine : the rows nearest to each row, padded with -1, and their cosines.
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
