"""Adam on binary cross-entropy for the stacker, in one compiled loop.

A step reads a few thousand entries of ten numbers each, so in a framework the overhead of calls would dominate.
"""

from __future__ import annotations

import numpy as np
from numba import njit

_MEAN, _SQUARE, _TINY = np.float32(0.9), np.float32(0.999), np.float32(1e-8)  # as Adam is always set
_ONE, _ZERO = np.float32(1), np.float32(0)


@njit(cache=True, nogil=True)
def split(values, width, hidden):
    """Views of B [width, hidden], b, c and (a, d) in one vector of all parameters."""
    end = width * hidden
    B = values[:end].reshape(width, hidden)
    return B, values[end : end + hidden], values[end + hidden : end + 2 * hidden], values[end + 2 * hidden :]


@njit(cache=True, nogil=True, fastmath=True)
def descend(starts, evidence, gains, order, batch, rates, decay, parameters, hidden):
    """Update the parameters in place: one step for each of `rates`, on the next `batch` rows of `order`."""
    width = evidence.shape[1]
    gradient = np.zeros_like(parameters)
    mean, square = np.zeros_like(parameters), np.zeros_like(parameters)
    B, b, c, a = split(parameters, width, hidden)
    to_B, to_b, to_c, to_a = split(gradient, width, hidden)
    h = np.empty(hidden, np.float32)
    mean_left, square_left = _ONE, _ONE
    for step in range(len(rates)):
        gradient[:] = 0
        rows = order[step * batch : (step + 1) * batch]
        for row in rows:
            for t in range(starts[row], starts[row + 1]):
                u = evidence[t]
                score = a[width]
                h[:] = b
                for f in range(width):
                    score += a[f] * u[f]
                    for j in range(hidden):
                        h[j] += B[f, j] * u[f]
                for j in range(hidden):
                    h[j] = max(h[j], _ZERO)
                    score += c[j] * h[j]
                likely = _ONE / (_ONE + np.exp(-score))
                pull = gains[t] * (likely - _ONE) if gains[t] > 0 else likely
                for j in range(hidden):
                    to_c[j] += pull * h[j]
                    h[j] = pull * c[j] if h[j] > 0 else _ZERO
                    to_b[j] += h[j]
                for f in range(width):
                    to_a[f] += pull * u[f]
                    for j in range(hidden):
                        to_B[f, j] += h[j] * u[f]
                to_a[width] += pull
        mean_left *= _MEAN
        square_left *= _SQUARE
        share = _ONE / max(1, len(rows))
        for i in range(len(parameters)):
            g = gradient[i] * share
            mean[i] = _MEAN * mean[i] + (_ONE - _MEAN) * g
            square[i] = _SQUARE * square[i] + (_ONE - _SQUARE) * g * g
            move = mean[i] / (_ONE - mean_left) / (np.sqrt(square[i] / (_ONE - square_left)) + _TINY)
            parameters[i] -= rates[step] * (decay * parameters[i] + move)
