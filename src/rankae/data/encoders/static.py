"""Static tables of subword vectors: the vector of a text is the mean of its subwords' rows."""

from __future__ import annotations

import numpy as np
from numba import njit

from rankae.errors import DataError


class StaticTable:
    """A vector for each subword, and optional weights of the subwords."""

    window = None

    def __init__(self, table: np.ndarray, weights: np.ndarray | None = None, rows: np.ndarray | None = None) -> None:
        if table.ndim != 2 or not np.isfinite(table).all():
            raise DataError("the encoder's table of vectors is not a matrix of finite numbers")
        table = np.ascontiguousarray(table, dtype=np.float32)
        if rows is not None:  # subwords that share a vector
            if rows.min(initial=0) < 0 or rows.max(initial=0) >= len(table):
                raise DataError("the encoder's subwords name vectors that it does not have")
            table = table[rows]
        if weights is not None:
            if weights.shape != (len(table),):
                raise DataError(f"the encoder has {len(table)} vectors but weights of shape {weights.shape}")
            table = table * weights.astype(np.float32)[:, None]
        self.table, self.size = table, table.shape[1]

    def pooled(self, tokens: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        pooled = np.zeros((len(tokens), self.size), dtype=np.float32)
        _mean_rows(tokens, lengths, self.table, pooled)
        return pooled


@njit(cache=True, nogil=True)
def _mean_rows(tokens, lengths, table, pooled):
    for i in range(len(tokens)):
        for t in range(lengths[i]):
            token = tokens[i, t]
            if token < len(table):  # an added token may have no vector
                pooled[i] += table[token]
        if lengths[i]:
            pooled[i] /= lengths[i]
