"""The k best labels of each code by inner product, exactly, without building the dense matrix rows x labels.

An inner product is at most the product of the lengths, |d' z| <= |d| |z|, and the vectors of rare labels are short.
With many labels, those with the longest vectors are therefore scored first, and a row is done as soon as no remaining
label can reach its k-th best score: on debdeps, a row scores a fifth of the 36,468 labels.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numba import njit

from rankae.numerics.inner_products import dot
from rankae.numerics.reached import reached
from rankae.numerics.table import Table, as_table
from rankae.numerics.threads import across_threads

# A block of scores (rows x labels, float32: 2 MB) stays in the cache between the product and the selection.
_ROWS, _LABELS = 256, 2048
_MANY = 2 * _LABELS  # number of labels from which ordering them pays
_ENOUGH = 64  # number of rows from which computing the lengths pays; it costs as much as scoring one row
_ROUNDING = np.float32(1e-5)
_FEW = 3  # up to so many rows, a pass over the table is faster than the overhead of a matrix product
_LANES = 128  # groups of labels, whose maxima bound the k-th best score from below


@njit(cache=True, nogil=True)
def _worse(score_a, label_a, score_b, label_b):
    """True if a ranks below b: a lower score, or the same score and a later column."""
    return score_a < score_b or (score_a == score_b and label_a > label_b)


@njit(cache=True, nogil=True)
def _sift_down(scores, labels, root, size):
    score, label = scores[root], labels[root]
    while True:
        child = 2 * root + 1
        if child >= size:
            break
        if child + 1 < size and _worse(scores[child + 1], labels[child + 1], scores[child], labels[child]):
            child += 1
        if not _worse(scores[child], labels[child], score, label):
            break
        scores[root], labels[root] = scores[child], labels[child]
        root = child
    scores[root], labels[root] = score, label


@njit(cache=True, nogil=True)
def _offer(first, last, starts, block, rows, columns, scores, labels):
    """Insert a block of scores into the heaps of its rows; the root of a heap is the worst of the k best so far."""
    width, k = block.shape[1], scores.shape[1]
    lanes = np.empty(_LANES, np.float32)
    for i in range(first, last):
        row, best, label = block[i], scores[rows[i]], labels[rows[i]]
        floor = max(reached(row, k, lanes), best[0])
        for lane in range(min(width, _LANES)):
            if lanes[lane] < floor:
                continue
            for j in range(lane, width, _LANES):
                if row[j] >= floor and _worse(best[0], label[0], row[j], columns[j]):
                    best[0], label[0] = row[j], columns[j]
                    _sift_down(best, label, 0, k)


@njit(cache=True, nogil=True)
def _offer_all(code, table, scales, bias, scores, labels):
    """Score every label for one code and insert it into the heap."""
    for label in range(len(table)):
        score = dot(code, table[label])
        if len(scales) > 0:
            score *= scales[label]
        if len(bias) > 0:
            score += bias[label]
        if score > scores[0]:
            scores[0], labels[0] = score, label
            _sift_down(scores, labels, 0, len(scores))


@njit(cache=True, nogil=True)
def _sort(first, last, starts, scores, labels):
    """Turn each heap into a list, best first."""
    for i in range(first, last):
        best, label = scores[i], labels[i]
        for size in range(scores.shape[1] - 1, 0, -1):
            best[0], best[size] = best[size], best[0]
            label[0], label[size] = label[size], label[0]
            _sift_down(best, label, 0, size)


def top_k(
    codes: np.ndarray, table: np.ndarray | Table, bias: np.ndarray | None, k: int
) -> tuple[np.ndarray, np.ndarray]:
    """The k labels with the largest table @ code + bias.

    Parameters
    ----------
    codes : float32 [rows, h].
    table, bias : [L, h] and float32 [L] (or None).
    k : how many; at most L are given.

    Returns
    -------
    int32 columns and float32 scores, [rows, min(k, L)], best first; equal scores in the order of columns.
    """
    n, L = len(codes), len(table)
    k = min(k, L)
    scores = np.full((n, k), -np.inf, dtype=np.float32)
    labels = np.full((n, k), -1, dtype=np.int32)
    if n == 0 or k == 0:
        return labels, scores
    codes, table = np.ascontiguousarray(codes), as_table(table)
    if n <= _FEW:
        bias = np.empty(0, dtype=np.float32) if bias is None else bias
        for i in range(n):
            _offer_all(codes[i], table.stored, table.scales, bias, scores[i], labels[i])
        _sort(0, n, labels, scores, labels)
        return labels, scores
    bias = np.zeros(L, dtype=np.float32) if bias is None else bias
    order = _LongestFirst(table, bias) if n >= _ENOUGH and L > _MANY else _AsTheyCome(L)
    block = torch.empty(min(n, _ROWS) * min(L, _LABELS))
    for row in range(0, n, _ROWS):
        best_scores, best_labels, z = (part[row : row + _ROWS] for part in (scores, labels, codes))
        lengths, rows = np.linalg.norm(z, axis=1), np.arange(len(z))
        for start in range(0, L, _LABELS):
            rows = rows[order.most(start, lengths[rows]) >= best_scores[rows, 0]]
            if len(rows) == 0:
                break
            columns = order.columns[start : start + _LABELS]
            out = block[: len(rows) * len(columns)].view(len(rows), len(columns))
            block_table = torch.from_numpy(table[order.places(start)])
            torch.addmm(torch.from_numpy(bias[columns]), torch.from_numpy(z[rows]), block_table.T, out=out)
            across_threads(_offer, np.arange(len(rows) + 1), out.numpy(), rows, columns, best_scores, best_labels)
        across_threads(_sort, np.arange(len(z) + 1), best_scores, best_labels)
    return labels, scores


class _AsTheyCome:
    """Labels in the order of their columns, all of which are scored."""

    def __init__(self, count: int) -> None:
        self.columns = np.arange(count, dtype=np.int32)

    def places(self, start: int) -> Any:
        """Rows of the table in a block."""
        return slice(start, start + _LABELS)

    def most(self, start: int, lengths: np.ndarray) -> np.ndarray:
        """Upper bound on all scores from this block on, for codes of these lengths."""
        return np.full(len(lengths), np.inf, dtype=np.float32)


class _LongestFirst(_AsTheyCome):
    """Labels with longer vectors before those with shorter ones."""

    def __init__(self, table: Table, bias: np.ndarray) -> None:
        blocks = range(0, len(table), _LABELS)
        lengths = np.concatenate([np.linalg.norm(table[s : s + _LABELS], axis=1) for s in blocks])
        self.columns = np.argsort(-lengths, kind="stable").astype(np.int32)
        self._longest = lengths[self.columns] * (1 + _ROUNDING)
        self._most_bias = np.maximum.accumulate(bias[self.columns][::-1])[::-1] + _ROUNDING

    def places(self, start: int) -> Any:
        return self.columns[start : start + _LABELS]

    def most(self, start: int, lengths: np.ndarray) -> np.ndarray:
        return lengths * self._longest[start] + self._most_bias[start]
