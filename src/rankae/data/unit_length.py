"""Scales rows to length 1. A compiled loop checks whether they have it already, which numpy cannot do fast for one
row."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numba import njit

_LENGTH_TOLERANCE = 1e-5  # float32 rows that were scaled to length 1 before are nearer to it than this


@njit(cache=True, nogil=True)
def have_unit_length(starts, values, tolerance):
    """Whether every row values[starts[i]:starts[i + 1]] that holds anything has length 1."""
    for i in range(len(starts) - 1):
        squares = 0.0
        for t in range(starts[i], starts[i + 1]):
            squares += np.float64(values[t]) * np.float64(values[t])
        if starts[i] < starts[i + 1] and not abs(np.sqrt(squares) - 1) < tolerance:
            return False
    return True


def unit_rows(rows: sp.csr_matrix) -> sp.csr_matrix:
    """Rows of length 1 with sorted columns, float32; returns the matrix itself if it has that form already."""
    if (
        rows.dtype == np.float32
        and rows.has_sorted_indices
        and have_unit_length(rows.indptr, rows.data, _LENGTH_TOLERANCE)
    ):
        return rows
    lengths = row_lengths(rows)
    data = (rows.data / np.repeat(np.where(lengths > 0, lengths, 1), np.diff(rows.indptr))).astype(np.float32)
    scaled = sp.csr_matrix((data, rows.indices.copy(), rows.indptr), shape=rows.shape)
    scaled.sort_indices()
    return scaled


def row_lengths(rows: sp.csr_matrix) -> np.ndarray:
    """Euclidean length of each row, float64; 0 for a row that holds nothing."""
    lengths = np.zeros(rows.shape[0])
    filled = np.diff(rows.indptr) > 0
    squares = np.square(rows.data, dtype=np.float64)
    lengths[filled] = np.sqrt(np.add.reduceat(squares, rows.indptr[:-1][filled]))
    return lengths
