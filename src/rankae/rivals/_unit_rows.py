"""Rows scaled to unit length, also when there are none."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp


def unit_rows(rows: sp.csr_matrix) -> sp.csr_matrix:
    """A copy of CSR rows in which each has Euclidean length 1; empty rows stay empty."""
    lengths = row_lengths(rows)
    scaled = rows.data / np.repeat(np.where(lengths > 0, lengths, 1), np.diff(rows.indptr)).astype(rows.dtype)
    return sp.csr_matrix((scaled, rows.indices, rows.indptr), shape=rows.shape)


def row_lengths(rows: sp.csr_matrix) -> np.ndarray:
    """Euclidean length of each row, float64."""
    row = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    return np.sqrt(np.bincount(row, rows.data.astype(np.float64) ** 2, minlength=rows.shape[0]))
