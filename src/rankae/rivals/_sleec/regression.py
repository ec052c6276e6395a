"""The linear map from features to the embedding: SLEEC's ADMM around liblinear's L2-loss support vector regression.

With no insensitive zone that regression is  min 1/2 ||w||^2 + cost ||X w - z||^2  for each dimension, solved in the
dual one row at a time. Here all dimensions share the walk over the rows: a row's features are read once for a hundred
dimensions, in one inner loop that runs on vectors.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numba import njit

RHO = 0.001
L1 = 0.01
OUTER_ROUNDS = 2
TOLERANCE = 0.1  # liblinear's: of the sum of dual gradients, relative to that of the first pass
MOST_PASSES = 1000


def fit_regressor(rows: sp.csr_matrix, targets: np.ndarray, cost: float, random: np.random.Generator) -> np.ndarray:
    """W, features x dimensions, with `rows` W near `targets` and itself nearly sparse.

    Minimises  ||Z - X W||^2 + ||W||^2 / (2 cost) + L1 |X W|_1: the L1 part acts through a copy of X W that is
    shrunk and pulled back with strength RHO. The published constants make that pull slight.
    """
    shrunk = dual = np.zeros_like(targets)
    for _ in range(OUTER_ROUNDS):
        pulled = (targets + RHO * (shrunk - dual)) / (1 + RHO)
        W = least_squares(rows, pulled, cost * (1 + RHO), random)
        reached = np.asarray(rows @ W) + dual
        shrunk = np.sign(reached) * np.maximum(0, np.abs(reached) - L1 / RHO)
        dual = reached - shrunk
    return W


def least_squares(
    rows: sp.csr_matrix, targets: np.ndarray, cost: float, random: np.random.Generator, tolerance: float = TOLERANCE
) -> np.ndarray:
    """W that minimises  1/2 ||w||^2 + cost ||X w - z||^2  for each column w of W and z of `targets`."""
    W = np.zeros((rows.shape[1], targets.shape[1]), dtype=np.float32)
    dual = np.zeros(targets.shape, dtype=np.float32)
    targets = np.ascontiguousarray(targets, dtype=np.float32)
    first = 0.0
    for done in range(MOST_PASSES):
        order = random.permutation(rows.shape[0])
        violation = _pass(order, rows.indptr, rows.indices, rows.data, targets, 0.5 / cost, dual, W)
        first = violation if done == 0 else first
        if violation <= tolerance * first:
            break
    return W


@njit(cache=True, nogil=True)
def _pass(order, start, feature, value, targets, ridge, dual, W) -> float:
    """One step of dual coordinate descent for every row, in all dimensions; returns the sum of the gradients."""
    gradient = np.empty(W.shape[1], dtype=np.float32)
    total = 0.0
    for i in order:
        squared = ridge
        for d in range(W.shape[1]):
            gradient[d] = ridge * dual[i, d] - targets[i, d]
        for e in range(start[i], start[i + 1]):
            squared += value[e] * value[e]
            for d in range(W.shape[1]):
                gradient[d] += value[e] * W[feature[e], d]
        for d in range(W.shape[1]):
            total += abs(gradient[d])
            gradient[d] /= -squared
            dual[i, d] += gradient[d]
        for e in range(start[i], start[i + 1]):
            for d in range(W.shape[1]):
                W[feature[e], d] += value[e] * gradient[d]
    return total
