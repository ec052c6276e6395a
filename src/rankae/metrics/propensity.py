"""Propensity-scored measures (Jain et al., 2016): a hit on a rare label counts more, for rare labels go missing more often."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from rankae.metrics.judged import Judged, discounts, ideal_gain

# Jain et al.'s values for data sets other than Wikipedia (A = .5, B = .4) and Amazon (A = .6, B = 2.6).
A, B = 0.55, 1.5


def inverse_propensities(train_labels: sp.csr_matrix, n_labels: int | None = None, a: float = A, b: float = B) -> np.ndarray:
    """1 / p_l = 1 + C (n_l + B)^-A with C = (log N - 1) (B + 1)^A, for N training rows of which n_l carry label l.

    Columns beyond those of `train_labels`, up to `n_labels`, are labels that never occur in training: n_l = 0.
    With fewer than three rows C would be negative, and nothing is known of propensities: all are 1.
    """
    rows, columns = train_labels.shape
    seen = np.bincount(train_labels.indices[train_labels.data != 0], minlength=max(columns, n_labels or 0))
    c = max(0.0, np.log(max(rows, 1)) - 1) * (b + 1) ** a
    return 1 + c * (seen + b) ** -a


def propensity_rows(
    judged: Judged, inverse: np.ndarray, k: int, discounted: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """What each row gained and the best it could gain: PSP@k (or PSnDCG@k, if `discounted`) is sum / sum.

    The two come apart because the published measure is the ratio of their means, not the mean of their ratios.
    """
    columns, hits = judged.columns[:, :k], judged.hits[:, :k]
    gains = np.where(hits, inverse[columns], 0.0)
    best = _best_gains(judged.labels, inverse, k)
    if discounted:
        norm = ideal_gain(judged.counts, k)
        return gains @ discounts(gains.shape[1]) / norm, best @ discounts(k) / norm
    return gains.sum(axis=1) / k, best.sum(axis=1) / k


def _best_gains(labels: sp.csr_matrix, inverse: np.ndarray, k: int) -> np.ndarray:
    """The k largest inverse propensities among each row's true labels, largest first, padded with 0."""
    counts = np.diff(labels.indptr)
    row_of = np.repeat(np.arange(len(counts)), counts)
    weights = inverse[labels.indices]
    order = np.lexsort((-weights, row_of))
    place = np.arange(len(order)) - np.repeat(labels.indptr[:-1], counts)
    first = place < k
    best = np.zeros((len(counts), k))
    best[row_of[first], place[first]] = weights[order[first]]
    return best
