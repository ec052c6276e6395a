"""Counts of words turned into their weights in the row, in one loop: (sublinear) tf-idf, L2 norm."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True, error_model="numpy")
def weigh(starts, columns, values, word_weights, sublinear, norm):
    """Row i has values[starts[i]:starts[i + 1]], which are changed in place."""
    for i in range(len(starts) - 1):
        squares = np.float32(0)
        for t in range(starts[i], starts[i + 1]):
            value = values[t]
            if sublinear and value != 1:
                value = 1 + np.log(value)
            values[t] = value * word_weights[columns[t]]
            squares += values[t] * values[t]
        if norm and squares > 0:
            scale = 1 / np.sqrt(squares)
            for t in range(starts[i], starts[i + 1]):
                values[t] *= scale
