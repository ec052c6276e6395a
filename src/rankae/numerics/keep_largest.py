"""The k largest values of each row of a ragged array."""

from __future__ import annotations

import numpy as np
from numba import njit

from rankae.numerics.threads import across_threads


@njit(cache=True, nogil=True)
def _keep_largest(first, last, starts, columns, values, kept, best):
    """By insertion: k is small and most values fail the first comparison."""
    k = kept.shape[1]
    for i in range(first, last):
        filled = 0
        for t in range(starts[i], starts[i + 1]):
            value = values[t]
            if filled == k and value <= best[i, k - 1]:
                continue
            place = min(filled, k - 1)
            filled = min(filled + 1, k)
            while place > 0 and best[i, place - 1] < value:
                best[i, place], kept[i, place] = best[i, place - 1], kept[i, place - 1]
                place -= 1
            best[i, place], kept[i, place] = value, columns[t]


def keep_largest(starts: np.ndarray, columns: np.ndarray, values: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The k largest of each row's values[starts[i]:starts[i + 1]] in descending order, and their columns.

    Padded with -1 and -inf; equal values keep their order.
    """
    rows = len(starts) - 1
    kept, best = np.full((rows, k), -1, dtype=np.int32), np.full((rows, k), -np.inf, dtype=np.float32)
    across_threads(_keep_largest, starts, columns, values, kept, best)
    return kept, best
