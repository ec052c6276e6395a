"""Coordinates whose inner products match the observed pairs of a Gram matrix; the other pairs are unconstrained.

Singular value projection: from M = Z Z' take M + (G - M on the observed pairs), and project it to the nearest matrix
of rank d. Since M changes little from round to round, its leading subspace Q is carried along: one step of block power
iteration and a d x d eigenproblem in place of a new decomposition. The first M is the truncated decomposition of G.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numba import njit, prange

from rankae.numerics.sparse_product import sparse_product
from rankae.progress import bar

MOST_ROUNDS = 200
TOLERANCE = 1e-3  # of the fit to the observed pairs, gained in a round, relative to their norm
STARTING_ROUNDS = 8


def embed_pairs(gram: sp.csr_matrix, dim: int, random: np.random.Generator) -> np.ndarray:
    """Z, rows x min(dim, rows), with Z Z' near `gram` on its stored pairs."""
    n = gram.shape[0]
    gaps = gram.astype(np.float32)  # what Z Z' lacks on the observed pairs; all of it, while Z is zero
    Z = np.zeros((n, min(dim, n)), dtype=np.float32)
    Q = _orthonormal(random.standard_normal((n, Z.shape[1])).astype(np.float32))
    for _ in range(STARTING_ROUNDS):
        Q = _orthonormal(gaps @ Q)
    norm = before = float(np.linalg.norm(gram.data))
    with bar("embedding labels") as progress:
        for _ in range(MOST_ROUNDS):
            Q = _orthonormal(Z @ (Z.T @ Q) + sparse_product(gaps, Q))
            projected = Q.T @ (Z @ (Z.T @ Q) + sparse_product(gaps, Q))
            power, turn = np.linalg.eigh((projected + projected.T) / 2)
            Q = Q @ turn
            Z = Q * np.sqrt(np.maximum(power, 0))
            _fill_gaps(gram.indptr, gram.indices, gram.data, Z, gaps.data)
            misfit = float(np.linalg.norm(gaps.data))
            progress.advance(misfit=misfit / max(norm, 1e-12))
            if before - misfit <= TOLERANCE * norm:
                break
            before = misfit
    return Z


def _orthonormal(columns: np.ndarray) -> np.ndarray:
    return np.linalg.qr(columns)[0]


@njit(cache=True, nogil=True, parallel=True, fastmath=True)
def _fill_gaps(start, column, value, Z, gaps):
    for i in prange(len(start) - 1):
        for e in range(start[i], start[i + 1]):
            product = np.float32(0.0)
            for d in range(Z.shape[1]):
                product += Z[i, d] * Z[column[e], d]
            gaps[e] = value[e] - product
