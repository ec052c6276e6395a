"""The k best labels of each code by inner product, exact, without ever holding rows x labels."""

from __future__ import annotations

import numpy as np
import torch
from numba import njit

from rankae.network.kernels.inner_products import dot
from rankae.network.kernels.threads import across_threads
from rankae.network.table import Table, as_table

# A block of scores (rows x labels, float32: 2 MB) stays in the cache between the product and the selection.
_ROWS, _LABELS = 256, 2048
_FEW = 3  # rows for which one pass over the table each is faster than the calls that a matrix product takes
LANES = 32  # scores that are compared at a time with the k-th best so far


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


@njit(cache=True, nogil=True, fastmath=True)
def any_above(values, start, floor):
    """Whether any of LANES values from `start` on is above the floor."""
    above = np.float32(0)
    for j in range(start, start + LANES):
        above = max(above, values[j] - floor)
    return above > 0


@njit(cache=True, nogil=True)
def _offer(first, last, starts, block, offset, scores, labels):
    """Show a block of scores to the heaps of its rows; the root of a heap is the worst of the k best so far."""
    width, k = block.shape[1], scores.shape[1]
    for i in range(first, last):
        row, best, label = block[i], scores[i], labels[i]
        for start in range(0, width, LANES):
            if start + LANES <= width and not any_above(row, start, best[0]):
                continue
            for j in range(start, min(width, start + LANES)):
                # Columns come in ascending order, so an equal score never displaces an earlier one.
                if row[j] > best[0]:
                    best[0], label[0] = row[j], offset + j
                    _sift_down(best, label, 0, k)


@njit(cache=True, nogil=True)
def _offer_all(code, table, scales, bias, scores, labels):
    """Score every label for one code and show it to the heap."""
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
    z = torch.from_numpy(codes)
    b = torch.zeros(L) if bias is None else torch.from_numpy(np.ascontiguousarray(bias))
    block = torch.empty(min(n, _ROWS) * min(L, _LABELS))
    for row in range(0, n, _ROWS):
        rows = slice(row, min(n, row + _ROWS))
        even = np.arange(rows.stop - row + 1)
        for label in range(0, L, _LABELS):
            columns = slice(label, min(L, label + _LABELS))
            height, width = rows.stop - row, columns.stop - label
            out = block[: height * width].view(height, width)
            torch.addmm(b[columns], z[rows], torch.from_numpy(table[columns]).T, out=out)
            across_threads(_offer, even, out.numpy(), label, scores[rows], labels[rows])
        across_threads(_sort, even, scores[rows], labels[rows])
    return labels, scores
