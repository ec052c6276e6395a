"""Quality of probabilities: expected calibration error, Brier score, log likelihood, reliability bins.

All are computed from the probabilities of the first k predicted labels of each row. Places without a prediction do not
count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from rankae.metrics.judged import judge

BINS = 10


@dataclass(frozen=True)
class Reliability:
    """Predictions in bins of equal width: their number, mean probability and share of true labels."""

    predictions: np.ndarray
    probability: np.ndarray
    true: np.ndarray

    @property
    def error(self) -> float:
        """ECE: the difference of probability and share of true labels, averaged over predictions."""
        return float((self.predictions * np.abs(self.probability - self.true)).sum() / max(1, self.predictions.sum()))

    @property
    def chance(self) -> float:
        """The expected ECE of perfect probabilities on this many rows."""
        spread = np.sqrt(2 / np.pi * self.probability * (1 - self.probability) * self.predictions)
        return float(spread.sum() / max(1, self.predictions.sum()))


def reliability(probabilities: np.ndarray, true: np.ndarray, bins: int = BINS) -> Reliability:
    """Bins of some predictions, given as arrays of one shape."""
    p, hit = np.ravel(probabilities).astype(np.float64), np.ravel(true)
    place = np.minimum((p * bins).astype(np.int64), bins - 1)
    sizes = np.bincount(place, minlength=bins)
    mean, share = (np.bincount(place, weights=w, minlength=bins) / np.maximum(sizes, 1) for w in (p, hit))
    return Reliability(sizes, mean, share)


def evaluate_probabilities(
    columns: np.ndarray, probabilities: np.ndarray, labels: sp.csr_matrix, k: Sequence[int] = (1, 3, 5)
) -> dict[str, float]:
    """ECE@k, its value for perfect probabilities, and Brier@k in percent; NLL in nats over all predictions."""
    judged = judge(columns, labels)
    listed = judged.columns >= 0
    measures: dict[str, float] = {}
    bins = {i: reliability(probabilities[:, :i][listed[:, :i]], judged.hits[:, :i][listed[:, :i]]) for i in k}
    measures |= {f"ECE@{i}": 100 * bins[i].error for i in k}
    measures |= {f"ECE-chance@{i}": 100 * bins[i].chance for i in k}
    squares = np.where(listed, (probabilities - judged.hits) ** 2, 0)
    measures |= {f"Brier@{i}": 100 * float(squares[:, :i].sum() / max(1, listed[:, :i].sum())) for i in k}
    p = np.clip(probabilities[listed].astype(np.float64), 1e-7, 1 - 1e-7)
    hit = judged.hits[listed]
    return measures | {"NLL": -float(np.where(hit, np.log(p), np.log1p(-p)).mean()) if len(p) else 0.0}
