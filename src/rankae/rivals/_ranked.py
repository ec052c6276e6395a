"""The best k labels of each row, best first, from dense, sparse or listed scores.

All results are int32 columns and float32 scores, rows x k, padded with -1 and -inf. Ties go to the smaller column, so
that results do not depend on k or on the order of computation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import scipy.sparse as sp

Ranked = tuple[np.ndarray, np.ndarray]

# A block of dense scores stays within this many cells (64 MB of float32).
BLOCK_CELLS = 2**24


def nothing_ranked(rows: int, k: int) -> Ranked:
    """A result without any label."""
    return np.full((rows, k), -1, dtype=np.int32), np.full((rows, k), -np.inf, dtype=np.float32)


def rank_dense(scores: np.ndarray, k: int) -> Ranked:
    """The best k of a dense rows x labels array; -inf marks a label that must not be named."""
    scores = np.asarray(scores, dtype=np.float32)
    rows, labels = scores.shape
    if k < labels:
        # The k-th best score decides; among its equals the smaller columns are taken, as a full sort would.
        cut = np.partition(scores, labels - k, axis=1)[:, labels - k, None]
        ties = scores == cut
        room = k - (scores > cut).sum(axis=1, keepdims=True)
        kept = (scores > cut) | (ties & (np.cumsum(ties, axis=1) <= room))
        columns = np.nonzero(kept)[1].reshape(rows, k)
    else:
        columns = np.broadcast_to(np.arange(labels), (rows, labels))
    best = np.take_along_axis(scores, columns, axis=1)
    order = np.argsort(-best, axis=1, kind="stable")
    best = np.take_along_axis(best, order, axis=1)
    columns = np.take_along_axis(columns, order, axis=1).astype(np.int32)
    columns[best == -np.inf] = -1
    if k > labels:
        pad = ((0, 0), (0, k - labels))
        return np.pad(columns, pad, constant_values=-1), np.pad(best, pad, constant_values=-np.inf)
    return columns, best


def rank_in_blocks(
    score_block: Callable[[slice], np.ndarray], rows: int, labels: int, k: int, most_rows: int = 4096
) -> Ranked:
    """`rank_dense` on blocks of rows, so that the scores of all rows are never in memory at once."""
    columns, scores = nothing_ranked(rows, k)
    step = max(1, min(most_rows, BLOCK_CELLS // max(1, labels)))
    for start in range(0, rows, step):
        block = slice(start, min(rows, start + step))
        columns[block], scores[block] = rank_dense(score_block(block), k)
    return columns, scores


def rank_sparse(scores: sp.csr_matrix, k: int) -> Ranked:
    """The best k of the stored scores of each row; labels without a stored score are not named."""
    columns, values = nothing_ranked(scores.shape[0], k)
    for row in range(scores.shape[0]):
        part = slice(scores.indptr[row], scores.indptr[row + 1])
        order = np.lexsort((scores.indices[part], -scores.data[part]))[:k]
        columns[row, : len(order)] = scores.indices[part][order]
        values[row, : len(order)] = scores.data[part][order]
    return columns, values


def rank_pairs(rows: Sequence[Sequence[tuple[int, float]]], k: int) -> Ranked:
    """From lists of (column, score), best first, as the wrapped libraries answer."""
    columns, scores = nothing_ranked(len(rows), k)
    for row, pairs in enumerate(rows):
        for rank, (column, score) in enumerate(pairs[:k]):
            columns[row, rank], scores[row, rank] = column, score
    return columns, scores
