"""The labels that are looked at closely for each row: a union of what several parts propose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp


@dataclass(frozen=True)
class Shortlist:
    """Row i holds the labels columns[starts[i]:starts[i + 1]], ascending and distinct."""

    starts: np.ndarray  # int64 [rows + 1]
    columns: np.ndarray  # int32

    @classmethod
    def union(cls, proposals: Sequence[np.ndarray]) -> Shortlist:
        """From int32 arrays of rows x k, padded with -1."""
        together = np.sort(np.concatenate(proposals, axis=1), axis=1)
        fresh = together >= 0
        fresh[:, 1:] &= together[:, 1:] != together[:, :-1]
        return cls(_starts(fresh.sum(1)), together[fresh].astype(np.int32, copy=False))

    @classmethod
    def everything(cls, rows: int, labels: int) -> Shortlist:
        """All labels for every row, where there are few."""
        columns = np.tile(np.arange(labels, dtype=np.int32), rows)
        return cls(np.arange(rows + 1, dtype=np.int64) * labels, columns)

    @classmethod
    def stacked(cls, lists: Sequence[Shortlist]) -> Shortlist:
        """The rows of several shortlists, one after the other."""
        sizes = np.concatenate([np.diff(s.starts) for s in lists])
        return cls(_starts(sizes), np.concatenate([s.columns for s in lists]))

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def rows(self) -> np.ndarray:
        """The row of each entry."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    def matrix(self, values: np.ndarray, labels: int) -> sp.csr_matrix:
        return sp.csr_matrix((values, self.columns, self.starts), shape=(len(self), labels))

    def values_of(self, matrix: sp.csr_matrix) -> np.ndarray:
        """What a sparse rows x labels matrix holds at each entry; 0 where it holds nothing."""
        width = np.int64(max(matrix.shape[1], 1))
        matrix = matrix if matrix.has_sorted_indices else matrix.sorted_indices()
        wanted = self.rows * width + self.columns
        held = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr)) * width + matrix.indices
        place = np.searchsorted(held, wanted)
        found = place < len(held)
        found[found] = held[place[found]] == wanted[found]
        out = np.zeros(len(wanted), dtype=np.float32)
        out[found] = matrix.data[place[found]]
        return out

    def best(self, scores: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The k best entries of each row: columns and scores, padded with -1 and -inf; ties to the lower column."""
        order = np.lexsort((self.columns, -scores, self.rows))
        rank = np.arange(len(order)) - np.repeat(self.starts[:-1], np.diff(self.starts))
        kept = rank < k
        columns = np.full((len(self), k), -1, dtype=np.int32)
        best = np.full((len(self), k), -np.inf, dtype=np.float32)
        at = self.rows[kept], rank[kept]
        columns[at], best[at] = self.columns[order[kept]], scores[order[kept]]
        return columns, best


def _starts(sizes: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
