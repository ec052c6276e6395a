"""The part of a CSR matrix that a tree node sees: its rows, and only the columns that occur in them, renumbered."""

from __future__ import annotations

import numpy as np
from numba import njit

UNSEEN = -1


@njit(cache=True, nogil=True)
def local_rows(
    member: np.ndarray, start: np.ndarray, column: np.ndarray, number: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """CSR structure of the rows `member` over local columns: (start, local column, the matrix column of each).

    `number` is scratch as long as the matrix is wide, all UNSEEN before and after: a small node must not pay for it.
    """
    local_start = np.zeros(len(member) + 1, dtype=np.int64)
    for i in range(len(member)):
        local_start[i + 1] = local_start[i] + start[member[i] + 1] - start[member[i]]
    local = np.empty(local_start[-1], dtype=np.int32)
    original = np.empty(min(local_start[-1], len(number)), dtype=np.int32)
    known, to = 0, 0
    for i in member:
        for e in range(start[i], start[i + 1]):
            c = column[e]
            if number[c] == UNSEEN:
                number[c] = known
                original[known] = c
                known += 1
            local[to] = number[c]
            to += 1
    original = original[:known]
    for c in original:
        number[c] = UNSEEN
    return local_start, local, original


@njit(cache=True, nogil=True)
def local_columns(
    member: np.ndarray, start: np.ndarray, column: np.ndarray, value: np.ndarray, number: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """CSC form of the rows `member`, with a last column of ones for the bias: (start, row, value, original column)."""
    row_start, local, original = local_rows(member, start, column, number)
    n_rows, n_columns = len(member), len(original)
    column_start = np.zeros(n_columns + 2, dtype=np.int64)
    for c in local:
        column_start[c + 1] += 1
    column_start[n_columns + 1] = n_rows
    column_start = np.cumsum(column_start)
    row = np.empty(len(local) + n_rows, dtype=np.int32)
    local_value = np.empty(len(local) + n_rows, dtype=np.float32)
    free = column_start[:-1].copy()
    for i in range(n_rows):
        first = start[member[i]] - row_start[i]
        for e in range(row_start[i], row_start[i + 1]):
            at = free[local[e]]
            row[at], local_value[at] = i, value[first + e]
            free[local[e]] += 1
        at = column_start[n_columns] + i
        row[at], local_value[at] = i, 1.0
    return column_start, row, local_value, original
