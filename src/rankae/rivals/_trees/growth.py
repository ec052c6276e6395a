"""One label-ranking tree, grown level by level into flat arrays.

Here and in the other kernels plain loops stand where numpy would assign a slice: numba compiles that faster.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from rankae.rivals._trees.l1_logistic import fit_l1_logistic
from rankae.rivals._trees.ndcg_split import alternate_sides
from rankae.rivals._trees.node_view import UNSEEN, local_columns, local_rows

LEAF = -1


class Tree(NamedTuple):
    """Nodes in the order of their levels, node 0 the root.

    child : the node for rows with w.x + bias <= 0; its right neighbour takes the others. LEAF for a leaf.
    bias : of each node's hyperplane.
    weight_start, weight_feature, weight_value : the hyperplanes, a CSR matrix nodes x features.
    label_start, label, label_score : the leaves' mean label vectors, a CSR matrix nodes x labels.
    """

    child: np.ndarray
    bias: np.ndarray
    weight_start: np.ndarray
    weight_feature: np.ndarray
    weight_value: np.ndarray
    label_start: np.ndarray
    label: np.ndarray
    label_score: np.ndarray


@njit(cache=True, nogil=True)
def grow_tree(
    seed: int,
    row_start: np.ndarray,
    row_feature: np.ndarray,
    row_value: np.ndarray,
    n_features: int,
    label_start: np.ndarray,
    row_label: np.ndarray,
    label_weight: np.ndarray,
    member: np.ndarray,
    most_in_leaf: int,
    labels_per_leaf: int,
    cost: float,
    tolerance: float,
) -> Tree:
    """A tree over the rows `member` (reordered in place) of two CSR matrices, features and labels; all have labels."""
    np.random.seed(seed)
    most_nodes = max(1, 2 * len(member) - 1)  # a split leaves rows on both sides
    first, last = np.zeros(most_nodes, dtype=np.int64), np.zeros(most_nodes, dtype=np.int64)
    child = np.full(most_nodes, LEAF, dtype=np.int32)
    bias = np.zeros(most_nodes, dtype=np.float32)
    weights_until = np.zeros(most_nodes + 1, dtype=np.int64)
    labels_until = np.zeros(most_nodes + 1, dtype=np.int64)
    weight_feature, weight_value = np.empty(1024, dtype=np.int32), np.empty(1024, dtype=np.float32)
    leaf_label, leaf_score = np.empty(1024, dtype=np.int32), np.empty(1024, dtype=np.float32)
    feature_number = np.full(n_features, UNSEEN, dtype=np.int32)
    label_number = np.full(len(label_weight), UNSEEN, dtype=np.int32)

    last[0] = len(member)
    node, n_nodes = 0, 1
    while node < n_nodes:
        rows = member[first[node] : last[node]]
        local_start, local_label, label_of = local_rows(rows, label_start, row_label, label_number)
        weights_end, labels_end = weights_until[node], labels_until[node]
        n_minus = 0
        if len(rows) > most_in_leaf:
            columns = local_columns(rows, row_start, row_feature, row_value, feature_number)
            w = _separate(local_start, local_label, label_weight[label_of], columns[:3], cost, tolerance)
            n_minus = _partition(rows, columns[:3], w)
        if 0 < n_minus < len(rows):
            feature_of = columns[3]
            for c in range(len(feature_of)):
                if w[c] != 0:
                    weight_feature = _with_room(weight_feature, weights_end)
                    weight_value = _with_room(weight_value, weights_end)
                    weight_feature[weights_end], weight_value[weights_end] = feature_of[c], w[c]
                    weights_end += 1
            bias[node] = w[-1]
            child[node] = n_nodes
            first[n_nodes], last[n_nodes] = first[node], first[node] + n_minus
            first[n_nodes + 1], last[n_nodes + 1] = first[node] + n_minus, last[node]
            n_nodes += 2
        else:
            mean = np.zeros(len(label_of))
            for c in local_label:
                mean[c] += label_weight[label_of[c]] / len(rows)
            for c in np.argsort(-mean, kind="mergesort")[:labels_per_leaf]:
                leaf_label = _with_room(leaf_label, labels_end)
                leaf_score = _with_room(leaf_score, labels_end)
                leaf_label[labels_end], leaf_score[labels_end] = label_of[c], mean[c]
                labels_end += 1
        node += 1
        weights_until[node], labels_until[node] = weights_end, labels_end

    return Tree(
        child[:n_nodes].copy(),
        bias[:n_nodes].copy(),
        weights_until[: n_nodes + 1].copy(),
        weight_feature[:weights_end].copy(),
        weight_value[:weights_end].copy(),
        labels_until[: n_nodes + 1].copy(),
        leaf_label[:labels_end].copy(),
        leaf_score[:labels_end].copy(),
    )


@njit(cache=True, nogil=True)
def _separate(label_start, local_label, label_weight, columns, cost, tolerance) -> np.ndarray:
    """The node's hyperplane, bias last: two sides by nDCG from a random start, then one class-balanced logistic fit."""
    n_rows = len(label_start) - 1
    side = 2 * np.random.randint(0, 2, n_rows) - 1
    alternate_sides(label_start, local_label, len(label_weight), label_weight, side)
    n_plus = np.sum(side > 0)
    start, row, value = columns
    if n_plus == 0 or n_plus == n_rows:
        return np.zeros(len(start) - 1)
    balanced = np.empty(n_rows)
    for i in range(n_rows):
        balanced[i] = cost * n_rows / (n_plus if side[i] > 0 else n_rows - n_plus)
    # The tolerance is that of balanced sides: a small side needs a finer solution to be seen at all (as in liblinear).
    return fit_l1_logistic(start, row, value, side, balanced, tolerance * min(n_plus, n_rows - n_plus) / n_rows)


@njit(cache=True, nogil=True)
def _partition(rows, columns, w) -> int:
    """Put the rows with w.x <= 0 first, keeping their order; returns how many."""
    start, row, value = columns
    score = np.zeros(len(rows))
    for c in range(len(w)):
        if w[c] != 0:
            for e in range(start[c], start[c + 1]):
                score[row[e]] += np.float32(w[c]) * value[e]
    n_minus = int(np.sum(score <= 0))
    at_minus, at_plus = 0, n_minus
    for i, member in enumerate(rows.copy()):
        if score[i] <= 0:
            rows[at_minus] = member
            at_minus += 1
        else:
            rows[at_plus] = member
            at_plus += 1
    return n_minus


@njit(cache=True, nogil=True)
def _with_room(pool: np.ndarray, position: int) -> np.ndarray:
    """The pool, doubled if `position` lies beyond its end."""
    if position < len(pool):
        return pool
    larger = np.empty(2 * len(pool), dtype=pool.dtype)
    for at in range(len(pool)):
        larger[at] = pool[at]
    return larger
