"""Formats rows as XMC text in a compiled loop, because formatting numbers one by one in Python is slow."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numba import njit

_DIGITS = 4  # of a weight between 0 and 1, which is kept to 1 / 10^4
_UNIT = np.int64(10**_DIGITS)
_LONGEST_NUMBER = 20  # digits of a column and the separator after it


def xmc_bytes(labels: sp.csr_matrix, features: sp.csr_matrix) -> bytes:
    """`label,label feature:weight ...` lines; weights lie above 0 and at most at 1, and keep four digits."""
    room = _LONGEST_NUMBER * (labels.nnz + labels.shape[0]) + (_LONGEST_NUMBER + _DIGITS + 2) * features.nnz
    out = np.empty(room, np.uint8)
    used = _format(labels.indptr, labels.indices, features.indptr, features.indices, features.data, out)
    return out[:used].tobytes()


def rounded(features: sp.csr_matrix) -> sp.csr_matrix:
    """The weights as `xmc_bytes` writes them."""
    units = np.maximum(np.rint(features.data * np.float32(_UNIT)), 1)
    return sp.csr_matrix(((units / _UNIT).astype(np.float32), features.indices, features.indptr), shape=features.shape)


@njit(cache=True)
def _number(value, out, used):
    digits, left = 1, value // 10
    while left > 0:
        digits += 1
        left //= 10
    for place in range(used + digits - 1, used - 1, -1):
        out[place] = 48 + value % 10
        value //= 10
    return used + digits


@njit(cache=True)
def _format(label_starts, labels, word_starts, words, weights, out):
    used = 0
    for i in range(len(label_starts) - 1):
        for t in range(label_starts[i], label_starts[i + 1]):
            if t > label_starts[i]:
                out[used] = 44  # a comma
                used += 1
            used = _number(np.int64(labels[t]), out, used)
        for t in range(word_starts[i], word_starts[i + 1]):
            out[used] = 32
            used = _number(np.int64(words[t]), out, used + 1)
            out[used] = 58  # a colon
            used += 1
            units = max(np.int64(1), min(_UNIT, np.int64(np.rint(weights[t] * _UNIT))))
            used = _number(units // _UNIT, out, used)
            if units < _UNIT:
                out[used] = 46  # a point
                left = units
                for place in range(used + _DIGITS, used, -1):
                    out[place] = 48 + left % 10
                    left //= 10
                used += 1 + _DIGITS
        if word_starts[i] == word_starts[i + 1]:
            out[used] = 32  # a row without words still has its blank
            used += 1
        out[used] = 10
        used += 1
    return used
