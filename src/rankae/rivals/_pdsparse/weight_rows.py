"""A features x labels matrix that is sparse, but whose entries appear in any order: one hash table a feature.

A table of a power-of-two capacity is at most half full; once the next one would be as long as the label set, the row
turns dense and the label is its own place. All tables lie in one pool. The pool moves when it is full, so a function
that may add entries returns it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numba import njit

EMPTY = -1
ABSENT = -1
FIRST_CAPACITY = 4
SCATTER = 2654435769  # 2^32 / golden ratio: spreads neighbouring labels over a table


class WeightRows(NamedTuple):
    """first, capacity, used : where each feature's table lies in the pool, its length, its number of entries.
    label, value : the pool. n_pool : its used length, in an array of one so that functions can change it."""

    first: np.ndarray
    capacity: np.ndarray
    used: np.ndarray
    label: np.ndarray
    value: np.ndarray
    n_pool: np.ndarray


def empty_rows(n_features: int) -> WeightRows:
    """A matrix without entries."""
    return WeightRows(
        np.zeros(n_features, dtype=np.int64),
        np.zeros(n_features, dtype=np.int32),
        np.zeros(n_features, dtype=np.int32),
        np.full(1024, EMPTY, dtype=np.int32),
        np.zeros(1024, dtype=np.float32),
        np.zeros(1, dtype=np.int64),
    )


@njit(cache=True, nogil=True)
def find(rows: WeightRows, feature: int, label: int, n_labels: int) -> int:
    """The place of an entry in the pool, or ABSENT."""
    first, capacity = rows.first[feature], rows.capacity[feature]
    if capacity == 0:
        return ABSENT
    if capacity == n_labels:
        return first + label if rows.label[first + label] == label else ABSENT
    at = (label * SCATTER >> 8) & (capacity - 1)
    while rows.label[first + at] != label:
        if rows.label[first + at] == EMPTY:
            return ABSENT
        at = (at + 1) & (capacity - 1)
    return first + at


@njit(cache=True, nogil=True)
def add_entry(rows: WeightRows, feature: int, label: int, n_labels: int) -> tuple[WeightRows, int]:
    """Make room for an entry that is absent: (the matrix, the entry's place, its value 0)."""
    if 2 * (rows.used[feature] + 1) > rows.capacity[feature]:
        rows = _enlarge(rows, feature, n_labels)
    rows.used[feature] += 1
    return rows, _place(rows, feature, label, n_labels)


@njit(cache=True, nogil=True)
def _place(rows, feature, label, n_labels) -> int:
    first, capacity = rows.first[feature], rows.capacity[feature]
    if capacity == n_labels:
        return first + label
    at = (label * SCATTER >> 8) & (capacity - 1)
    while rows.label[first + at] != EMPTY:
        at = (at + 1) & (capacity - 1)
    rows.label[first + at] = label
    return first + at


@njit(cache=True, nogil=True)
def _enlarge(rows, feature, n_labels) -> WeightRows:
    """Move a feature's table to the end of the pool, with twice the capacity or dense."""
    old_first, old_capacity = rows.first[feature], rows.capacity[feature]
    capacity = max(FIRST_CAPACITY, 2 * old_capacity)
    if capacity >= n_labels:
        capacity = n_labels
    first = rows.n_pool[0]
    if first + capacity > len(rows.label):
        label = np.full(2 * (first + capacity), EMPTY, dtype=np.int32)
        value = np.zeros(len(label), dtype=np.float32)
        for at in range(first):
            label[at], value[at] = rows.label[at], rows.value[at]
        rows = WeightRows(rows.first, rows.capacity, rows.used, label, value, rows.n_pool)
    rows.n_pool[0] = first + capacity
    rows.first[feature], rows.capacity[feature] = first, capacity
    if capacity == n_labels:
        for column_label in range(n_labels):
            rows.label[first + column_label] = column_label
    for at in range(old_first, old_first + old_capacity):
        if rows.label[at] != EMPTY:
            rows.value[_place(rows, feature, rows.label[at], n_labels)] = rows.value[at]
    return rows


@njit(cache=True, nogil=True)
def shrunk(value: np.float32, l1: np.float32) -> np.float32:
    """The proximal map of the L1 norm: towards 0 by l1."""
    return value - min(max(value, -l1), l1)


@njit(cache=True, nogil=True)
def add_scores(rows: WeightRows, feature: np.ndarray, x: np.ndarray, l1: np.float32, scores: np.ndarray) -> None:
    """Add the scores of one row, features and values x, under the shrunk weights to `scores` of all labels."""
    for e in range(len(feature)):
        first, capacity = rows.first[feature[e]], rows.capacity[feature[e]]
        value = rows.value[first : first + capacity]
        if capacity == len(scores):
            for label in range(capacity):  # in step through memory, so that it runs on vectors
                scores[label] += x[e] * shrunk(value[label], l1)
        else:
            for at in range(capacity):
                weight = shrunk(value[at], l1)
                if weight != 0:
                    scores[rows.label[first + at]] += x[e] * weight


def shrunk_matrix(rows: WeightRows, n_labels: int, l1: float) -> sp.csr_matrix:
    """The weights after shrinking, features x labels, without zeros."""
    feature = np.repeat(np.arange(len(rows.first)), rows.capacity)
    within = np.arange(len(feature)) - np.repeat(np.cumsum(rows.capacity) - rows.capacity, rows.capacity)
    place = rows.first[feature] + within
    value = rows.value[place] - np.clip(rows.value[place], -np.float32(l1), np.float32(l1))
    kept = value != 0
    shape = (len(rows.first), n_labels)
    return sp.csr_matrix((value[kept], (feature[kept], rows.label[place][kept])), shape=shape)


@njit(cache=True, nogil=True)
def only_support(rows: WeightRows, n_labels: int, l1: float) -> WeightRows:
    """The entries that shrinking leaves alive, with their values before it, in tables of the same capacities."""
    label = np.full(len(rows.label), EMPTY, dtype=np.int32)
    kept = WeightRows(rows.first, rows.capacity, rows.used, label, np.zeros(len(label), dtype=np.float32), rows.n_pool)
    for feature in range(len(rows.first)):
        rows.used[feature] = 0
        for at in range(rows.first[feature], rows.first[feature] + rows.capacity[feature]):
            if rows.label[at] != EMPTY and abs(rows.value[at]) > l1:
                place = _place(kept, feature, rows.label[at], n_labels)
                kept.label[place], kept.value[place] = rows.label[at], rows.value[at]
                kept.used[feature] += 1
    return kept
