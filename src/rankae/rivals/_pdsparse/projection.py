"""Projection onto a row's dual set: the positives and the negatives have the same sum, at most C."""

from __future__ import annotations

import numpy as np
from numba import njit

HALVINGS = 40


@njit(cache=True, nogil=True)
def project_both(positive: np.ndarray, negative: np.ndarray, most: float) -> None:
    """Replace both vectors by the nearest ones that are >= 0 and have one and the same sum, at most `most`.

    The answer is (positive - t)+ and (negative + t)+ for the t that makes the sums equal; if they exceed `most`, each
    vector is projected to the simplex of that size by itself.
    """
    low, high = -np.max(negative), np.max(positive)
    if low >= high:
        positive[:] = 0.0
        negative[:] = 0.0
        return
    for _ in range(HALVINGS):
        t = 0.5 * (low + high)
        if _held(positive, t) > _held(negative, -t):
            low = t
        else:
            high = t
    # At `high` the positives hold no more than the negatives; bring the negatives to the very same sum.
    total = min(most, _held(positive, high))
    _to_simplex(positive, total)
    _to_simplex(negative, total)


@njit(cache=True, nogil=True)
def _held(vector, threshold) -> float:
    total = 0.0
    for v in vector:
        total += max(0.0, v - threshold)
    return total


@njit(cache=True, nogil=True)
def _to_simplex(vector: np.ndarray, total: float) -> None:
    """Project to {a >= 0, sum a = total}: Newton's method on the threshold, exact after finitely many steps."""
    if total <= 0:
        vector[:] = 0.0
        return
    threshold, before = -np.inf, len(vector) + 1
    while True:
        count, held = 0, 0.0
        for v in vector:
            if v > threshold:
                count += 1
                held += v
        # Fewer lie above it with each step; with a total near rounding error none may, or a step may change nothing.
        if count == 0 or count >= before:
            break
        before = count
        threshold = (held - total) / count
    for at in range(len(vector)):
        vector[at] = max(0.0, vector[at] - threshold)
