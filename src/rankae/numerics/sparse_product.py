"""A sparse matrix times a dense one, float32, on all threads."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numba import njit

from rankae.numerics.small_numbers import number
from rankae.numerics.table import Table, as_table
from rankae.numerics.threads import across_threads


@njit(cache=True, nogil=True, fastmath=True)
def _multiply(first, last, starts, columns, values, dense, scales, out):
    width = dense.shape[1]
    for i in range(first, last):
        row = out[i]
        row[:] = 0
        for t in range(starts[i], starts[i + 1]):
            value, source = values[t], dense[columns[t]]
            if len(scales) > 0:
                value *= scales[columns[t]]
            for c in range(width):
                row[c] += value * number(source[c])


def sparse_product(matrix: sp.csr_matrix, dense: np.ndarray | Table) -> np.ndarray:
    """matrix @ dense, both float32; about twice as fast as scipy's on one thread, and it uses all of them.

    A table of lower precision is read directly, without a float32 copy.
    """
    table = dense if isinstance(dense, Table) else as_table(np.asarray(dense, dtype=np.float32))
    out = np.empty((matrix.shape[0], table.shape[1]), dtype=np.float32)
    across_threads(_multiply, matrix.indptr, matrix.indices, matrix.data, table.stored, table.scales, out)
    return out
