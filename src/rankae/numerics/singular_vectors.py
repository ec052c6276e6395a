"""The leading singular vectors of a sparse matrix: of labels, which go together; of words, the topics of the rows."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from rankae.numerics.sparse_product import sparse_product

_FEW_COLUMNS = 1000  # up to here the exact eigenvectors of their co-occurrence cost less than iterations


def leading_vectors(matrix: sp.csr_matrix, most: int, seed: int = 0, iterations: int = 3) -> np.ndarray:
    """The leading right singular vectors, columns x at most `most`, by randomised subspace iteration."""
    size = min(most, *matrix.shape)
    width = min(size + 16, *matrix.shape)
    transposed = matrix.T.tocsr()
    if matrix.shape[1] <= _FEW_COLUMNS:
        together = (transposed @ matrix).toarray().astype(np.float64)
        return np.ascontiguousarray(np.linalg.eigh(together)[1][:, ::-1][:, :size], dtype=np.float32)
    basis = np.random.default_rng(seed).standard_normal((matrix.shape[1], width), dtype=np.float32)
    for _ in range(iterations):
        basis = _orthonormal(sparse_product(transposed, sparse_product(matrix, basis)))
    image = sparse_product(matrix, basis)
    _, rotation = np.linalg.eigh(image.T @ image)
    return np.ascontiguousarray(basis @ rotation[:, ::-1][:, :size])


def _orthonormal(columns: np.ndarray) -> np.ndarray:
    """An orthonormal basis of the columns: two rounds of Cholesky's QR, which is all matrix products.

    The first round is shifted, so that it survives columns that are nearly dependent; the second one sets it right.
    """
    for shift in (1e-6, 0.0):
        gram = (columns.T @ columns).astype(np.float64)
        gram[np.diag_indices_from(gram)] += shift * np.trace(gram) / len(gram) + np.finfo(np.float32).tiny
        try:
            triangle = np.linalg.cholesky(gram)
        except np.linalg.LinAlgError:  # dependent columns after all, as in data with fewer distinct rows than codes
            return np.linalg.qr(columns)[0]
        columns = columns @ np.linalg.inv(triangle).T.astype(np.float32)
    return columns
