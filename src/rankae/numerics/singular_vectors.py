"""The leading singular vectors of a sparse matrix: of labels, their co-occurrence; of words, the topics of the rows."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from rankae.numerics.row_blocks import RowBlocks
from rankae.numerics.sparse_product import sparse_product

_BLOCK = 2**16  # rows of a table that are multiplied at a time
_FEW_COLUMNS = 1000  # up to so many columns, the exact eigenvectors of X'X cost less than iterations


def leading_vectors(matrix: sp.csr_matrix, most: int, seed: int = 0, iterations: int = 3) -> np.ndarray:
    """The leading right singular vectors, columns x at most `most`, by randomised subspace iteration."""
    size = min(most, *matrix.shape)
    width = min(size + 16, *matrix.shape)
    if matrix.shape[1] <= _FEW_COLUMNS:
        cooccurrence = (matrix.T.tocsr() @ matrix).toarray().astype(np.float64)
        return np.ascontiguousarray(np.linalg.eigh(cooccurrence)[1][:, ::-1][:, :size], dtype=np.float32)
    basis = np.random.default_rng(seed).standard_normal((matrix.shape[1], width), dtype=np.float32)
    blocks = RowBlocks(matrix)
    for _ in range(iterations):
        basis = _orthonormal(blocks.normal_product(basis))
    gram = np.zeros((width, width), dtype=np.float32)
    for span in blocks.spans:
        image = sparse_product(blocks.block(span), basis)
        gram += image.T @ image
    return _times(basis, np.linalg.eigh(gram)[1][:, ::-1][:, :size])


def _orthonormal(columns: np.ndarray) -> np.ndarray:
    """An orthonormal basis of the columns by two rounds of Cholesky QR, which consists of matrix products.

    The first round is shifted, so that it works for nearly dependent columns; the second one corrects the shift.
    """
    for shift in (1e-6, 0.0):
        gram = (columns.T @ columns).astype(np.float64)
        gram[np.diag_indices_from(gram)] += shift * np.trace(gram) / len(gram) + np.finfo(np.float32).tiny
        try:
            triangle = np.linalg.cholesky(gram)
        except np.linalg.LinAlgError:  # dependent columns, as in data with fewer distinct rows than columns
            return np.linalg.qr(columns)[0]
        columns = _times(columns, np.linalg.inv(triangle).T.astype(np.float32))
    return columns


def _times(table: np.ndarray, turn: np.ndarray) -> np.ndarray:
    """table @ turn, computed in place."""
    width = turn.shape[1]
    for first in range(0, len(table), _BLOCK):
        table[first : first + _BLOCK, :width] = table[first : first + _BLOCK] @ turn
    return table if width == table.shape[1] else np.ascontiguousarray(table[:, :width])
