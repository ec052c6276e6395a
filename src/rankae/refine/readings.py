"""What a part of the model says about a block of rows: which labels it proposes, and its score for any label."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import scipy.sparse as sp
from numba import njit

from rankae.network.kernels.threads import across_threads
from rankae.network.top_k import top_k
from rankae.refine.shortlist import Shortlist


class Reading(Protocol):
    def propose(self, k: int) -> np.ndarray:
        """The k labels that it ranks highest, int32 rows x k, padded with -1."""

    def scores(self, shortlist: Shortlist) -> np.ndarray:
        """Its score for each entry of the shortlist, float32."""


class CodeReading:
    """Codes against a table of labels: score = table @ code + bias."""

    def __init__(self, codes: np.ndarray, table: np.ndarray, bias: np.ndarray) -> None:
        self.codes, self.table, self.bias = codes, table, bias

    def propose(self, k: int) -> np.ndarray:
        return top_k(self.codes, self.table, self.bias, k)[0]

    def scores(self, shortlist: Shortlist) -> np.ndarray:
        out = np.empty(len(shortlist.columns), dtype=np.float32)
        across_threads(_inner_products, shortlist.starts, shortlist.columns, self.codes, self.table, self.bias, out)
        return out


class SparseReading:
    """Scores that are 0 for all but a few labels of a row."""

    def __init__(self, values: sp.csr_matrix) -> None:
        self.values = values

    def propose(self, k: int) -> np.ndarray:
        out = np.full((self.values.shape[0], k), -1, dtype=np.int32)
        best = np.empty(out.shape, dtype=np.float32)
        across_threads(_largest, self.values.indptr, self.values.indices, self.values.data, out, best)
        return out

    def scores(self, shortlist: Shortlist) -> np.ndarray:
        return shortlist.values_of(self.values)


@njit(cache=True, nogil=True, fastmath=True)
def _inner_products(first, last, starts, columns, codes, table, bias, out):
    for i in range(first, last):
        code = codes[i]
        for t in range(starts[i], starts[i + 1]):
            row, total = table[columns[t]], bias[columns[t]]
            for c in range(len(code)):
                total += code[c] * row[c]
            out[t] = total


@njit(cache=True, nogil=True)
def _largest(first, last, starts, columns, values, out, best):
    """Keep the k largest values of each row by insertion; k is small and most values fail the first comparison."""
    k = out.shape[1]
    for i in range(first, last):
        filled = 0
        for t in range(starts[i], starts[i + 1]):
            value = values[t]
            if filled == k and value <= best[i, k - 1]:
                continue
            place = min(filled, k - 1)
            filled = min(filled + 1, k)
            while place > 0 and best[i, place - 1] < value:
                best[i, place], out[i, place] = best[i, place - 1], out[i, place - 1]
                place -= 1
            best[i, place], out[i, place] = value, columns[t]
