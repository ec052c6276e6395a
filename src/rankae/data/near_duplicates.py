"""Find near-duplicate rows, and hold rows out as they will come.

Training data is full of near-duplicates: packages of one source, versions of one law, products of one series. A
held-out row whose relative is in the training part tests only memory, unless new rows have relatives there too. Which
of the two it is, the order of the rows often tells: those of one source stand beside each other. So whole runs of rows
are held out. Where rows are in no order, runs are as good as single rows, and held-out rows have as many relatives
among the others as new rows have.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numba import njit

_ALIKE = 0.8  # cosine from which two rows are near-duplicates
_OF_A_GROUP = 0.5  # cosine from which two rows are in one group: packages of one source, films of one series
_MOST_OF_A_GROUP = 50  # rows; the ends of longer chains are no longer similar
_RUN = 16  # rows beside each other that are held out together; 82 % of the alike pairs of debtags are as near
_NEAREST = 8  # rows that are looked up for each row, to find its group
_FEWEST_RUNS = 25  # of less data, runs are shorter
_OF_ONE_RUN = 0.5  # share of label occurrences, all in one run, from which rows are taken to be sorted by label
_ENOUGH_ROWS = 6000  # more held-out rows bring no gain
_SHARE = 0.15
_FIFTHS = 5
_FEWEST_ROWS = 20  # fewer are too few to hold any out
_ENOUGH_IN_FIFTHS = 2400  # held-out rows; bibtex and tmdb-plots, rows split off train: with more nothing was gained
_ENOUGH_TO_COMPARE = 10_000  # rows that settings are compared on
_ENOUGH_TO_CHECK = 4000  # of these, held-out rows


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


def runs_of_rows(labels: sp.csr_matrix, places: np.ndarray | None = None) -> np.ndarray:
    """The run of each row, from 0 on: rows beside each other in the data.

    Of rows that are sorted by label, a run would hold out all rows of a label; there each row is a run of its own.

    places : of the rows in the data, ascending; by default there are no others between them.
    """
    n, L = labels.shape
    places = np.arange(n) if places is None else places
    run = np.unique(places // min(_RUN, max(1, n // _FEWEST_RUNS)), return_inverse=True)[1]
    counts = np.bincount(labels.indices, minlength=L)
    pairs = np.unique(np.repeat(run, np.diff(labels.indptr)).astype(np.int64) * L + labels.indices)
    of_one_run = (np.bincount(pairs % L, minlength=L) == 1) & (counts > 1)
    return np.arange(n) if counts[of_one_run].sum() > _OF_ONE_RUN * labels.nnz else run


def held_out_folds(runs: np.ndarray, seed: int) -> np.ndarray:
    """The fold in which each row is held out, -1 for rows that never are; see `held_out_sizes`.

    runs : of each row, from 0 on, see `runs_of_rows`. The last run of a fold may be cut in two.
    """
    return _cut(runs, held_out_sizes(len(runs)), seed)


def folds_to_compare(runs: np.ndarray, seed: int) -> list[np.ndarray]:
    """Rows that settings are compared on, in folds of a fifth: as many as are enough."""
    n = len(runs)
    folds = min(_FIFTHS, -(-_ENOUGH_TO_CHECK * _FIFTHS // max(1, n)))
    fold = _cut(runs, [len(range(f, n, _FIFTHS)) for f in range(folds)], seed)
    return [rows for f in range(folds) if len(rows := np.flatnonzero(fold == f))]


def _cut(runs: np.ndarray, sizes: list[int], seed: int) -> np.ndarray:
    """The fold of each row, with so many rows each."""
    place = np.random.default_rng(seed).random(int(runs.max(initial=-1)) + 1)[runs]
    fold = np.full(len(runs), -1, dtype=np.int8)
    of_each = np.repeat(np.arange(len(sizes)), np.array(sizes, dtype=np.int64))
    fold[np.argsort(place, kind="stable")[: len(of_each)]] = of_each
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


def nearest_others(rows: sp.csr_matrix, count: int = _NEAREST) -> tuple[np.ndarray, np.ndarray]:
    """The nearest other rows of each row, and their cosines; rows have length 1."""
    from rankae.numerics.row_search import RowSearch  # torch takes a while to import

    return RowSearch.over(rows).nearest(rows, count, leave_one_out=True)


def groups_in_runs(nearest: np.ndarray, cosine: np.ndarray, labels: sp.csr_matrix) -> np.ndarray:
    """As `alike_groups`, of rows that also stand near each other in the data.

    Where alike rows stand anywhere, rows to come may be like them, and hardly any row gets a group. In rows that are
    sorted by label none does (see `runs_of_rows`).
    """
    every = np.arange(len(nearest))
    if np.array_equal(runs_of_rows(labels), every):
        return every
    apart = np.abs(nearest - every[:, None])
    return alike_groups(nearest, np.where(apart <= _RUN, cosine, np.float32(0)))


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
