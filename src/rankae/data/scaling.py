"""Dense features at one scale: each with a mean of 0 and a deviation of 1.

Rows that all lie on one side of 0 point almost the same way: their cosines say little, and a network that starts from
them learns next to nothing. Sparse rows must stay as they are, or they would not be sparse.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import StandardScaler


@dataclass(frozen=True)
class Scaling:
    """mean, deviation : of each feature, over the training rows; 1 for the deviation of one that does not vary."""

    mean: np.ndarray
    deviation: np.ndarray

    @classmethod
    def of(cls, rows: sp.csr_matrix) -> Scaling:
        found = StandardScaler().fit(rows.toarray())
        return cls(found.mean_.astype(np.float32), found.scale_.astype(np.float32))

    def __call__(self, rows: sp.csr_matrix) -> sp.csr_matrix:
        return sp.csr_matrix((rows.toarray() - self.mean) / self.deviation)
