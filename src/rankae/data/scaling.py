"""Dense features around 0: each less its mean, and at one scale if that helps.

Rows that all lie on one side of 0 point almost the same way: their cosines say little, and a network that starts from
them learns next to nothing. What the mean has said of how frequent labels are, a constant feature says in its place.
Sparse rows must stay as they are, or they would not be sparse.
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
    """mean, deviation : what is taken from each feature, and what it is then divided by.
    constant : the value of one feature more, the last.
    """

    mean: np.ndarray
    deviation: np.ndarray
    constant: float

    @classmethod
    def of(cls, rows: sp.csr_matrix, scale: str) -> Self:
        """As these rows ask for: "centre" gives each feature a mean of 0, "standard" a deviation of 1 as well."""
        found = StandardScaler().fit(rows.toarray())  # the deviation of a feature that does not vary is 1
        deviation = found.scale_ if scale == "standard" else np.ones_like(found.scale_)
        length = float(np.sqrt((found.var_ / deviation**2).sum()))
        return cls(found.mean_.astype(np.float32), deviation.astype(np.float32), _CONSTANT * length or 1.0)

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
