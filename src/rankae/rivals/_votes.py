"""The k best labels of a row from a sum of sparse votes."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np
import scipy.sparse as sp
from numba import njit

ROWS_PER_CHUNK = 256
VOTED = -1.0  # marks votes that are ranked already, since a vote may be 0 by rounding


def popular_labels(labels: sp.csr_matrix) -> np.ndarray:
    """Label columns, the most frequent first."""
    return np.argsort(-np.bincount(labels.indices, minlength=labels.shape[1]), kind="stable").astype(np.int32)


@njit(cache=True, nogil=True)
def rank_votes(
    votes: np.ndarray, voted: np.ndarray, popular: np.ndarray, columns: np.ndarray, scores: np.ndarray
) -> None:
    """Fill `columns` and `scores` with the best of the labels `voted`, then with popular ones, whose votes are truly 0.

    Ties go to the lower column. `votes` is set back to zero, ready for the next row.
    """
    k, filled = len(columns), 0
    voted = np.sort(voted)
    for at in np.argsort(-votes[voted], kind="mergesort")[:k]:
        columns[filled], scores[filled] = voted[at], votes[voted[at]]
        filled += 1
    votes[voted] = VOTED
    for label in popular:
        if filled == k:
            break
        if votes[label] == 0:
            columns[filled], scores[filled] = label, 0.0
            filled += 1
    votes[voted] = 0.0


def in_chunks(
    top: Callable[[int, int, np.ndarray, np.ndarray], None], n_rows: int, k: int
) -> tuple[np.ndarray, np.ndarray]:
    """Call `top(first, last, columns, scores)` on pieces of the rows, in as many threads as numba may use."""
    columns = np.full((n_rows, k), -1, dtype=np.int32)
    scores = np.full((n_rows, k), -np.inf, dtype=np.float32)
    spans = [(a, min(a + ROWS_PER_CHUNK, n_rows)) for a in range(0, n_rows, ROWS_PER_CHUNK)]
    with ThreadPoolExecutor(numba.get_num_threads()) as pool:
        list(pool.map(lambda span: top(span[0], span[1], columns[slice(*span)], scores[slice(*span)]), spans))
    return columns, scores
