"""A lower bound on the k-th largest of many values, found by a few vector operations.

Values fall into groups, one for each lane, and the maximum of each group is found for many groups at a time. If k lanes
reach a number, at least k values reach it.
"""

from __future__ import annotations

import numpy as np
from numba import njit

_HALVINGS = 12


@njit(cache=True, nogil=True)
def raise_lanes(lanes, values):
    """Value j belongs to lane j."""
    for j in range(len(values)):  # LLVM compares many at a time, as it would not for the largest of all values
        lanes[j] = values[j] if values[j] > lanes[j] else lanes[j]


@njit(cache=True, nogil=True)
def _count_reaching(values, floor):
    count = 0
    for j in range(len(values)):
        count += values[j] >= floor
    return count


@njit(cache=True, nogil=True)
def reached(values, k, lanes):
    """A number that at least k values reach and not many more; -inf if there are too few values.

    lanes : output, the maximum of the values that are len(lanes) apart.
    """
    lanes[:] = -np.inf
    for start in range(0, len(values), len(lanes)):
        raise_lanes(lanes, values[start : start + len(lanes)])
    low, high = lanes.min(), lanes.max()
    if k > len(lanes) or low == -np.inf:
        return np.float32(-np.inf)
    for _ in range(_HALVINGS):
        middle = np.float32(0.5) * (low + high)
        if _count_reaching(lanes, middle) >= k:
            low = middle
        else:
            high = middle
    return low
