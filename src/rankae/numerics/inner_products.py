"""Scores of a few labels per row: inner products of the row's code with their rows of the label table."""

from __future__ import annotations

import numpy as np
from numba import njit

from rankae.numerics.small_numbers import number
from rankae.numerics.table import Table, as_table
from rankae.numerics.threads import across_threads


@njit(cache=True, nogil=True, fastmath=True)
def dot(code, row):
    total = np.float32(0)
    for c in range(len(code)):
        total += code[c] * number(row[c])
    return total


@njit(cache=True, nogil=True)
def _inner_products(first, last, starts, columns, codes, table, scales, bias, out):
    for i in range(first, last):
        for t in range(starts[i], starts[i + 1]):
            label = columns[t]
            score = dot(codes[i], table[label])
            out[t] = (score * scales[label] if len(scales) > 0 else score) + bias[label]


def inner_products(
    starts: np.ndarray, columns: np.ndarray, codes: np.ndarray, table: np.ndarray | Table, bias: np.ndarray
) -> np.ndarray:
    """table[label] @ code + bias[label] for each label columns[starts[i]:starts[i + 1]] of row i."""
    table, out = as_table(table), np.empty(len(columns), dtype=np.float32)
    across_threads(_inner_products, starts, columns, codes, table.stored, table.scales, bias, out)
    return out
