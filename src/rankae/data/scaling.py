"""Dense features at one scale: each with a mean of 0 and a deviation of 1.

Rows that all lie on one side of 0 point almost the same way: their cosines say little, and a network that starts from
them learns next to nothing. Sparse rows must stay as they are, or they would not be sparse.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp


@dataclass(frozen=True)
class Scaling:
    """mean, deviation : of each feature, over the training rows."""

    mean: np.ndarray
    deviation: np.ndarray

    @classmethod
    def of(cls, rows: sp.csr_matrix) -> Scaling:
        n = max(1, rows.shape[0])
        mean = np.asarray(rows.sum(axis=0, dtype=np.float64)).ravel() / n
        squares = np.asarray(rows.multiply(rows).sum(axis=0, dtype=np.float64)).ravel() / n
        deviation = np.sqrt(np.maximum(squares - mean**2, 0))
        # What does not vary in training says nothing, and must not rule rows where it does.
        deviation = np.where(deviation > 1e-6 * np.sqrt(squares), deviation, np.sqrt(squares))
        return cls(mean.astype(np.float32), np.where(deviation > 0, deviation, 1).astype(np.float32))

    def __call__(self, rows: sp.csr_matrix) -> sp.csr_matrix:
        n, features = rows.shape
        values = (rows.toarray() - self.mean) / self.deviation
        columns = np.tile(np.arange(features, dtype=np.int32), n)
        return sp.csr_matrix((values.ravel(), columns, np.arange(n + 1) * features), shape=rows.shape)
