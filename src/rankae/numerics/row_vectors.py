"""Vectors that rows have besides their words, in the last columns: their leading directions, to tell which are alike.

All vectors of one encoder point the same way for the most part. What tells rows apart is how they differ from the mean,
and 64 directions of that tell it as well as all numbers do.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from rankae.errors import ModelFileError
from rankae.numerics.table import Table

_FEWEST, _DIRECTIONS = 8, 64  # numbers of a vector, and what is kept of them
_FILLED = 0.9  # of the rows: columns that fewer have belong to no vector
_MOST_ROWS = 200_000  # every row is compared with all of them


class RowVectors:
    """The vectors of indexed rows.

    first : the column of a row where its vector begins.
    mean, axes : of vectors, numbers and numbers x directions.
    table : what each indexed row has along the axes, rows x directions, as long as its vector.
    """

    def __init__(self, first: int, mean: np.ndarray, axes: np.ndarray, table: np.ndarray | Table) -> None:
        self.first, self.mean, self.axes, self.table = first, mean, axes, table
        self._transposed: np.ndarray | None = None

    @classmethod
    def of(cls, rows: sp.csr_matrix) -> Self | None:
        """None where the last columns hold no vectors, or where all columns do."""
        size = _trailing(np.bincount(rows.indices, minlength=rows.shape[1]) >= max(1, _FILLED * rows.shape[0]))
        if not _FEWEST <= size < rows.shape[1] or rows.shape[0] > _MOST_ROWS:
            return None
        first = rows.shape[1] - size
        vectors = _dense(rows, first)
        mean = vectors.mean(axis=0)
        spread = vectors - mean
        axes = np.linalg.eigh((spread.T @ spread).astype(np.float64))[1][:, ::-1][:, :_DIRECTIONS].astype(np.float32)
        instance = cls(first, mean, axes, np.empty((0, axes.shape[1]), dtype=np.float32))
        instance.table = instance._along_axes(vectors)
        return instance

    def of_rows(self, kept: np.ndarray) -> RowVectors:
        """The vectors of the `kept` rows (bool)."""
        return RowVectors(self.first, self.mean, self.axes, np.asarray(self.table)[kept])

    def with_more(self, rows: sp.csr_matrix) -> RowVectors:
        table = np.vstack([np.asarray(self.table), self._along_axes(_dense(rows, self.first))])
        return RowVectors(self.first, self.mean, self.axes, table)

    def shrunk(self, precision: str) -> RowVectors:
        return RowVectors(self.first, self.mean, self.axes, Table.at_most(precision, self.table))

    def similarities(self, rows: sp.csr_matrix) -> np.ndarray:
        """The inner products of the vectors of `rows` with those of all indexed rows, float32."""
        if self._transposed is None:
            self._transposed = np.ascontiguousarray(np.asarray(self.table, dtype=np.float32).T)
        return self._along_axes(_dense(rows, self.first)) @ self._transposed

    def _along_axes(self, vectors: np.ndarray) -> np.ndarray:
        """As long as the vectors are."""
        along = (vectors - self.mean) @ self.axes
        lengths = np.linalg.norm(vectors, axis=1) / np.maximum(np.linalg.norm(along, axis=1), 1e-9)
        return along * lengths[:, None].astype(np.float32)

    def state(self) -> dict[str, Any]:
        """Arrays for the model file."""
        return {"vector_mean": self.mean, "vector_axes": self.axes, "vector_table": self.table}

    @classmethod
    def from_state(cls, arrays: dict[str, Any], rows: int, columns: int) -> Self | None:
        if "vector_mean" not in arrays:
            return None
        mean, axes, table = (arrays[name] for name in ("vector_mean", "vector_axes", "vector_table"))
        if axes.shape[:1] != mean.shape or len(mean) > columns or tuple(table.shape) != (rows, axes.shape[1]):
            raise ModelFileError("the vectors of the model's neighbours contradict themselves; train it again")
        return cls(columns - len(mean), mean, axes, table)


def _trailing(there: np.ndarray) -> int:
    """How many of the last ones are true."""
    missing = np.flatnonzero(~there)
    return len(there) - 1 - int(missing[-1]) if len(missing) else len(there)


def _dense(rows: sp.csr_matrix, first: int) -> np.ndarray:
    """The columns from the first on, float32."""
    vectors = np.zeros((rows.shape[0], rows.shape[1] - first), dtype=np.float32)
    places = np.flatnonzero(rows.indices >= first)
    row = np.searchsorted(rows.indptr, places, side="right") - 1
    vectors[row, rows.indices[places] - first] = rows.data[places]
    return vectors
