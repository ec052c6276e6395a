"""FastXML's split of a node's rows into two sides, each with the label ranking of the highest nDCG for its rows."""

from __future__ import annotations

import numpy as np
from numba import njit

LEAST_GAIN = 1e-6  # of mean nDCG, for another round


@njit(cache=True, nogil=True)
def discounts(n: int) -> np.ndarray:
    """1 / log2(rank + 1) for the ranks 1..n."""
    return 1.0 / np.log2(np.arange(2.0, n + 2.0))


@njit(cache=True, nogil=True)
def alternate_sides(start: np.ndarray, label: np.ndarray, n_labels: int, weight: np.ndarray, side: np.ndarray) -> None:
    """Improve `side` (+1 or -1 a row, in place) until the mean nDCG no longer grows.

    Rows are CSR over labels (start, label), numbered within the node; `weight` is the worth of each label.
    Alternates the two exact steps: sort each side's labels by their summed y / IDCG; move each row to the side whose
    ranking gives it the larger nDCG. A row that gains nothing by moving stays.
    """
    n_rows = len(side)
    discount = discounts(n_labels)
    ideal = np.cumsum(discount)
    gains = np.empty((2, n_labels))
    discount_of = np.empty((2, n_labels))
    before = 0.0
    while True:
        gains[:] = 0.0
        for i in range(n_rows):
            s = 1 if side[i] > 0 else 0
            share = 1.0 / ideal[start[i + 1] - start[i] - 1]
            for e in range(start[i], start[i + 1]):
                gains[s, label[e]] += weight[label[e]] * share
        for s in range(2):
            order = np.argsort(-gains[s], kind="mergesort")
            for rank in range(n_labels):
                discount_of[s, order[rank]] = discount[rank]

        total = 0.0
        for i in range(n_rows):
            gain_minus, gain_plus = 0.0, 0.0
            for e in range(start[i], start[i + 1]):
                gain_minus += weight[label[e]] * discount_of[0, label[e]]
                gain_plus += weight[label[e]] * discount_of[1, label[e]]
            if gain_plus > gain_minus:
                side[i] = 1
            elif gain_minus > gain_plus:
                side[i] = -1
            total += max(gain_plus, gain_minus) / ideal[start[i + 1] - start[i] - 1]
        total /= n_rows
        if total - before < LEAST_GAIN:
            return
        before = total
