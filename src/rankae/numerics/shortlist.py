"""Shortlists: for each row, the union of the labels that several components propose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numba import njit

from rankae.numerics.keep_largest import keep_largest
from rankae.numerics.threads import across_threads


@dataclass(frozen=True)
class Shortlist:
    """Row i holds the labels columns[starts[i]:starts[i + 1]], ascending and distinct."""

    starts: np.ndarray  # int64 [rows + 1]
    columns: np.ndarray  # int32

    @classmethod
    def union(cls, proposals: Sequence[np.ndarray]) -> Shortlist:
        """From int32 arrays of rows x k, padded with -1."""
        joined = np.concatenate(proposals, axis=1)
        joined.sort(axis=1)
        starts, columns = np.zeros(len(joined) + 1, dtype=np.int64), np.empty(joined.size, dtype=np.int32)
        _distinct(joined, starts, columns)
        return cls(starts, columns[: starts[-1]])

    @classmethod
    def stacked(cls, lists: Sequence[Shortlist]) -> Shortlist:
        """The rows of several shortlists, one after the other."""
        sizes = np.concatenate([np.diff(s.starts) for s in lists])
        starts = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
        return cls(starts, np.concatenate([s.columns for s in lists]))

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def rows(self) -> np.ndarray:
        """The row of each entry."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    def entries_of(self, rows: np.ndarray) -> np.ndarray:
        """Indices of the entries of some rows, row after row."""
        sizes = np.diff(self.starts)[rows]
        before = np.repeat(np.cumsum(sizes) - sizes, sizes)
        return np.repeat(self.starts[rows], sizes) + np.arange(len(before)) - before

    def taken(self, rows: np.ndarray) -> Shortlist:
        """The shortlist of some rows."""
        starts = np.concatenate([[0], np.cumsum(np.diff(self.starts)[rows], dtype=np.int64)])
        return Shortlist(starts, self.columns[self.entries_of(rows)])

    def among(self, columns: np.ndarray) -> Shortlist:
        """The entries of some labels (ascending columns), renumbered by their index in `columns`."""
        place = np.full(max(columns.max(initial=-1), self.columns.max(initial=-1)) + 1, -1, dtype=np.int32)
        place[columns] = np.arange(len(columns), dtype=np.int32)
        places = place[self.columns]
        kept = places >= 0
        return Shortlist(np.concatenate([[0], np.cumsum(kept)])[self.starts], places[kept])

    def between(self, first: int, last: int) -> Shortlist:
        """The entries of the labels first:last, numbered from 0."""
        kept = (self.columns >= first) & (self.columns < last)
        ends = np.concatenate([[0], np.cumsum(kept, dtype=np.int64)])
        return Shortlist(ends[self.starts], self.columns[kept] - np.int32(first))

    def matrix(self, values: np.ndarray, labels: int) -> sp.csr_matrix:
        return sp.csr_matrix((values, self.columns, self.starts), shape=(len(self), labels))

    def values_of(self, matrix: sp.csr_matrix) -> np.ndarray:
        """The value of a sparse rows x labels matrix at each entry; 0 where nothing is stored."""
        matrix = matrix if matrix.has_sorted_indices else matrix.sorted_indices()
        return self.values_among(Shortlist(matrix.indptr, matrix.indices), matrix.data)

    def values_among(self, other: Shortlist, values: np.ndarray) -> np.ndarray:
        """For each entry, the value of the same entry of another shortlist of these rows; 0 where it has none."""
        out = np.empty(len(self.columns), dtype=np.float32)
        across_threads(_look_up, self.starts, self.columns, other.starts, other.columns, values, out)
        return out

    def best(self, scores: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The k best entries of each row: columns and scores, padded with -1 and -inf; ties to the lower column."""
        return keep_largest(self.starts, self.columns, scores, k)


@njit(cache=True, nogil=True)
def _distinct(joined, starts, columns):
    """Copy the distinct columns of each sorted row, without padding (-1)."""
    used = 0
    for i in range(len(joined)):
        before = np.int32(-1)
        for column in joined[i]:
            if column != before:
                columns[used] = before = column
                used += 1
        starts[i + 1] = used


@njit(cache=True, nogil=True)
def _look_up(first, last, starts, columns, held_starts, held_columns, held_values, out):
    """Merge the entries of each row with the stored columns, both ascending."""
    for i in range(first, last):
        at, end = held_starts[i], held_starts[i + 1]
        for t in range(starts[i], starts[i + 1]):
            while at < end and held_columns[at] < columns[t]:
                at += 1
            out[t] = held_values[at] if at < end and held_columns[at] == columns[t] else 0
