"""One round of PD-Sparse: for every row, find the labels that violate its margin most, and solve its dual problem.

Primal:  min  sum_k 1/2 ||w_k||^2 + l1 ||w_k||_1  +  C sum_i ( 1 + max_n w_n.x_i - min_p w_p.x_i )+
         where p runs over the positives of row i, n over its negatives
Dual:    min  1/2 sum_k ||w_k||^2 - sum_i sum_n a_in,   w_k = shrunk(v_k, l1),   v_k = sum_i +-a_ik x_i
         where + is for positives, with a >= 0 and, in each row, sum_p a_ip = sum_n a_in <= C
Only a row's positives and the negatives it has met and not dropped take part (its active set): the fully corrective
block-coordinate Frank-Wolfe method of Yen et al. (2016).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numba import njit

from rankae.rivals._pdsparse.projection import project_both
from rankae.rivals._pdsparse.weight_rows import ABSENT, WeightRows, add_entry, add_scores, find

MOST_ACTIVE = 64  # negatives of a row; few rows need more than ten
SMALLEST_CHANGE = 1e-9
JUDGED_PLACES = 5


class Dual(NamedTuple):
    """positive : a of the stored entries of the label matrix. label, negative : the active negatives of each row and
    their a, rows x MOST_ACTIVE, of which the first n_active count."""

    positive: np.ndarray
    label: np.ndarray
    negative: np.ndarray
    n_active: np.ndarray


def zero_dual(labels: sp.csr_matrix) -> Dual:
    """The dual of zero weights."""
    shape = (labels.shape[0], MOST_ACTIVE)
    return Dual(
        np.zeros(labels.nnz), np.zeros(shape, dtype=np.int32), np.zeros(shape), np.zeros(shape[0], dtype=np.int32)
    )


@njit(cache=True, nogil=True)
def run_round(
    order: np.ndarray,
    row_start: np.ndarray,
    row_feature: np.ndarray,
    row_value: np.ndarray,
    label_start: np.ndarray,
    row_label: np.ndarray,
    n_labels: int,
    l1: np.float32,
    cost: float,
    grows: bool,
    violators: int,
    dual: Dual,
    weights: WeightRows,
) -> WeightRows:
    """Improve dual and weights by the rows in `order`; with `grows` false, weights that are absent stay absent.

    A row that is visited takes up to `violators` more negatives into its active set."""
    scores = np.empty(n_labels, dtype=np.float32)
    known = np.zeros(n_labels, dtype=np.bool_)
    for i in order:
        feature = row_feature[row_start[i] : row_start[i + 1]]
        x = row_value[row_start[i] : row_start[i + 1]]
        positives = row_label[label_start[i] : label_start[i + 1]]
        squared = 0.0
        for v in x:
            squared += v * v
        if squared == 0 or len(positives) == 0 or len(positives) == n_labels:
            continue
        scores[:] = 0.0
        add_scores(weights, feature, x, l1, scores)
        n_active = _add_violators(
            violators, scores, positives, dual.label[i], dual.negative[i], dual.n_active[i], known
        )
        if n_active == 0:
            continue

        held, active = dual.positive[label_start[i] : label_start[i + 1]], dual.label[i, :n_active]
        aim_positive = held - scores[positives] / squared
        aim_negative = dual.negative[i, :n_active] + (1.0 + scores[active]) / squared
        project_both(aim_positive, aim_negative, cost)

        for at in range(len(positives)):
            weights = _change(weights, feature, x, positives[at], aim_positive[at] - held[at], n_labels, grows)
            held[at] = aim_positive[at]
        still = 0
        for at in range(n_active):
            change = dual.negative[i, at] - aim_negative[at]
            weights = _change(weights, feature, x, active[at], change, n_labels, grows)
            if aim_negative[at] > 0:
                dual.label[i, still], dual.negative[i, still] = active[at], aim_negative[at]
                still += 1
        dual.n_active[i] = still
    return weights


@njit(cache=True, nogil=True)
def _add_violators(most, scores, positives, active, held, n_active, known) -> int:
    """Add the best-scored labels that are neither positive nor active and come within the margin of a positive.

    At most `most` of them; `known` is scratch, a flag for each label, all False before and after.
    """
    lowest = np.inf
    for label in positives:
        lowest = min(lowest, scores[label])
    first, last = n_active, min(n_active + most, len(active))
    _mark(known, positives, active[:n_active], True)
    for label in range(len(scores)):
        if known[label] or scores[label] <= lowest - 1.0:
            continue
        # The new ones lie sorted, the best first; of equals the lower label.
        if n_active < last:
            at = n_active
            n_active += 1
        elif first < last and scores[label] > scores[active[last - 1]]:
            at = last - 1
        else:
            continue
        while at > first and scores[label] > scores[active[at - 1]]:
            active[at] = active[at - 1]
            at -= 1
        active[at] = label
    _mark(known, positives, active[:first], False)
    for at in range(first, n_active):
        held[at] = 0.0
    return n_active


@njit(cache=True, nogil=True)
def _mark(known, positives, active, value) -> None:
    for label in positives:
        known[label] = value
    for label in active:
        known[label] = value


@njit(cache=True, nogil=True)
def _change(weights, feature, x, label, change, n_labels, grows) -> WeightRows:
    if abs(change) < SMALLEST_CHANGE:
        return weights
    for e in range(len(feature)):
        at = find(weights, feature[e], label, n_labels)
        if at == ABSENT:
            if not grows:
                continue
            weights, at = add_entry(weights, feature[e], label, n_labels)
        weights.value[at] += change * x[e]
    return weights


@njit(cache=True, nogil=True)
def share_right(
    order: np.ndarray,
    row_start: np.ndarray,
    row_feature: np.ndarray,
    row_value: np.ndarray,
    label_start: np.ndarray,
    row_label: np.ndarray,
    n_labels: int,
    l1: np.float32,
    weights: WeightRows,
) -> float:
    """The share of true labels among the best-scored labels of the rows in `order`: the first five, or as many as a row
    has labels if those are fewer. It changes more smoothly from round to round than P@1."""
    scores = np.empty(n_labels, dtype=np.float32)
    right, count = 0, 0
    for i in order:
        scores[:] = 0.0
        span = slice(row_start[i], row_start[i + 1])
        add_scores(weights, row_feature[span], row_value[span], l1, scores)
        positives = row_label[label_start[i] : label_start[i + 1]]
        places = min(JUDGED_PLACES, len(positives))
        count += places
        for positive in positives:
            right += np.sum(scores >= scores[positive]) <= places  # of tied labels none counts
    return right / max(1, count)
