"""Whether rows have length 1, in one loop: numpy's calls would take longer than the answer to one row may."""

from __future__ import annotations

import numpy as np
from numba import njit


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
