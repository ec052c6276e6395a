"""Significant differences between methods, by a paired bootstrap over test rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

RESAMPLES = 2000
_AT_ONCE = 100  # resamples whose counts are held in memory


@dataclass(frozen=True)
class Difference:
    """How far a method is below the best one, in points, with the 95 % interval."""

    points: float
    low: float
    high: float

    @property
    def real(self) -> bool:
        """Whether the interval excludes 0."""
        return self.low > 0 or self.high < 0


def paired_bootstrap(
    best: np.ndarray, others: list[np.ndarray], resamples: int = RESAMPLES, seed: int = 0
) -> list[Difference]:
    """`best` minus each of `others`: arrays with one value per test row, the same rows in the same order.

    Rows are drawn with replacement, the same ones for all methods, so that the difficulty of rows cancels out.
    """
    if not others:
        return []
    gaps = np.stack([best - other for other in others], axis=1).astype(np.float64)
    rows = len(gaps)
    rng = np.random.default_rng(seed)
    means = np.empty((resamples, len(others)))
    for start in range(0, resamples, _AT_ONCE):
        drawn = rng.integers(0, rows, (min(_AT_ONCE, resamples - start), rows))
        counts = np.stack([np.bincount(row, minlength=rows) for row in drawn])
        means[start : start + len(drawn)] = counts @ gaps / rows
    low, high = np.percentile(means, [2.5, 97.5], axis=0)
    return [Difference(*map(float, interval)) for interval in zip(gaps.mean(axis=0), low, high, strict=True)]
