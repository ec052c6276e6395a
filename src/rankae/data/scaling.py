"""Centres dense features, and scales them to unit deviation if that helps.

Rows whose features are all positive point in almost the same direction, so their cosines carry little information, and
a network trained on them learns little. A constant feature is added, which replaces the mean as the carrier of label
frequencies. Sparse rows are never centred, because they would become dense.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import StandardScaler

SCALES = ("centre", "standard")
_CONSTANT = 0.3  # of a row's usual length


@dataclass(frozen=True)
class Scaling:
    """
    mean, deviation : subtracted from each feature, and the divisor of the difference.
    constant : value of the constant feature, which is added as the last one.
    """

    mean: np.ndarray
    deviation: np.ndarray
    constant: float

    @classmethod
    def of(cls, rows: sp.csr_matrix, scale: str) -> Self:
        """The scaling fitted on these rows: "centre" gives each feature a mean of 0, "standard" also a deviation of
        1."""
        scaler = StandardScaler().fit(rows.toarray())  # the deviation of a feature that does not vary is 1
        deviation = scaler.scale_ if scale == "standard" else np.ones_like(scaler.scale_)
        length = float(np.sqrt((scaler.var_ / deviation**2).sum()))
        return cls(scaler.mean_.astype(np.float32), deviation.astype(np.float32), _CONSTANT * length or 1.0)

    def __call__(self, rows: sp.csr_matrix) -> sp.csr_matrix:
        scaled = np.empty((rows.shape[0], len(self.mean) + 1), dtype=np.float32)
        scaled[:, :-1] = (rows.toarray() - self.mean) / self.deviation
        scaled[:, -1] = self.constant
        return sp.csr_matrix(scaled)

    def arrays(self) -> dict[str, np.ndarray]:
        return {"mean": self.mean, "deviation": self.deviation, "constant": np.array([self.constant], np.float32)}

    @classmethod
    def from_arrays(cls, mean: np.ndarray, deviation: np.ndarray, constant: np.ndarray) -> Self:
        return cls(mean, deviation, float(constant[0]))
