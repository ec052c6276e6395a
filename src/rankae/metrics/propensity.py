"""Propensity-scored measures (Jain et al., 2016): rare labels go missing more often, so a hit on one counts more."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from rankae.metrics.judged import Judged, discounts, ideal_gain

# Jain et al.'s values for data sets other than Wikipedia (A = .5, B = .4) and Amazon (A = .6, B = 2.6).
A, B = 0.55, 1.5


def inverse_propensities(
    train_labels: sp.csr_matrix, n_labels: int | None = None, a: float = A, b: float = B
) -> np.ndarray:
    """1 / p_l = 1 + C (n_l + B)^-A with C = (log N - 1) (B + 1)^A, for N training rows of which n_l carry label l.

    Columns beyond those of `train_labels`, up to `n_labels`, are labels that never occur in training: n_l = 0.
    With fewer than three rows C would be negative, and nothing is known of propensities: all are 1.
    """
    rows, columns = train_labels.shape
    seen = np.bincount(train_labels.indices[train_labels.data != 0], minlength=max(columns, n_labels or 0))
    c = max(0.0, np.log(max(rows, 1)) - 1) * (b + 1) ** a
    return 1 + c * (seen + b) ** -a


@dataclass(frozen=True)
class Weighed:
    """Predictions whose hits count 1 / p.

    Both measures return the gain of each row and its best possible gain separately, because the published measures are
    ratios of means over rows, not means of ratios.

    gains : float, rows x k; 1 / p where the prediction is a hit, else 0.
    best : float, rows x k; the largest 1 / p among the row's true labels, largest first.
    counts : number of true labels of each row.
    """

    gains: np.ndarray
    best: np.ndarray
    counts: np.ndarray

    def psp(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Gained and best of each row at PSP@k."""
        return self.gains[:, :k].sum(axis=1) / k, self.best[:, :k].sum(axis=1) / k

    def psndcg(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Gained and best of each row at PSnDCG@k: discounted by place, and divided as nDCG@k is."""
        norm = ideal_gain(self.counts, k)
        weight = discounts(k)
        return self.gains[:, :k] @ weight / norm, self.best[:, :k] @ weight / norm


def weigh(judged: Judged, inverse: np.ndarray, k: int) -> Weighed:
    """Weigh the first k predictions of each row by the inverse propensities of `inverse_propensities`."""
    gains = np.zeros((len(judged.hits), k))
    row, place = np.nonzero(judged.hits[:, :k])
    gains[row, place] = inverse[judged.columns[row, place]]
    return Weighed(gains, _best_gains(judged, inverse, k), judged.counts)


def _best_gains(judged: Judged, inverse: np.ndarray, k: int) -> np.ndarray:
    """The k largest 1 / p among each row's true labels, largest first, padded with 0.

    Labels are numbered from the heaviest on, so that sorting the integers row * labels + number sorts every row at
    once: thirty times as fast as sorting pairs.
    """
    heaviest = np.argsort(-inverse)
    number = np.empty(len(inverse), dtype=np.int64)
    number[heaviest] = np.arange(len(inverse))

    labels, counts = judged.labels, judged.counts
    row_of = np.repeat(np.arange(len(counts), dtype=np.int64), counts)
    keys = row_of * len(inverse) + number[labels.indices]
    keys.sort()
    place = np.arange(len(keys)) - np.repeat(labels.indptr[:-1], counts)
    first = place < k
    best = np.zeros((len(counts), k))
    best[row_of[first], place[first]] = inverse[heaviest[keys[first] - row_of[first] * len(inverse)]]
    return best
