"""The vote of the nearest training rows: labels that rows with the same words carry.

It finds rare labels that a code of a few hundred numbers has no room for.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numba import njit

from rankae.model_file import pack_csr, unpack_csr
from rankae.network.kernels.threads import across_threads
from rankae.refine.readings import SparseReading


class VoteReading(SparseReading):
    """Votes, and for each row the cosine of the nearest training row: how far the votes can be trusted."""

    def __init__(self, votes: sp.csr_matrix, nearest: np.ndarray) -> None:
        super().__init__(votes)
        self.nearest = nearest


@njit(cache=True, nogil=True, fastmath=True)
def _nearest(first, last, starts, words, weights, post_starts, post_rows, post_weights, rows, skip_self, found, cosine):
    """Add up the postings of each row's words, then keep the k rows with the largest sums."""
    k = found.shape[1]
    similarity, touched = np.zeros(rows, np.float32), np.empty(rows, np.int32)
    for i in range(first, last):
        count = 0
        for t in range(starts[i], starts[i + 1]):
            weight = weights[t]
            for p in range(post_starts[words[t]], post_starts[words[t] + 1]):
                row = post_rows[p]
                if similarity[row] == 0:
                    touched[count] = row
                    count += 1
                similarity[row] += weight * post_weights[p]
        filled = 0
        for c in range(count):
            row = touched[c]
            value = similarity[row]
            similarity[row] = 0
            if value <= 0 or (skip_self and row == i) or (filled == k and value <= cosine[i, k - 1]):
                continue
            place = min(filled, k - 1)
            filled = min(filled + 1, k)
            while place > 0 and cosine[i, place - 1] < value:
                cosine[i, place], found[i, place] = cosine[i, place - 1], found[i, place - 1]
                place -= 1
            cosine[i, place], found[i, place] = value, row


class Neighbours:
    """Votes of the nearest training rows, by the cosine of their weighted words.

    A word that occurs in more rows than `most_rows` is not followed: it says little and costs most.
    """

    name = "neighbours"

    def __init__(self, rows: sp.csr_matrix, labels: sp.csr_matrix, count: int = 20, most_rows: int = 3000) -> None:
        self.count, self.most_rows = count, most_rows
        self.labels = labels
        postings = rows.tocsc()
        lengths = np.diff(postings.indptr)
        kept = np.repeat(lengths <= most_rows, lengths)
        starts = np.concatenate([[0], np.cumsum(np.where(lengths <= most_rows, lengths, 0))])
        self._set_postings(starts, postings.indices[kept], postings.data[kept])

    def _set_postings(self, starts: np.ndarray, rows: np.ndarray, weights: np.ndarray) -> None:
        self.post_starts, self.post_rows, self.post_weights = starts.astype(np.int64), rows, weights

    def read(self, rows: sp.csr_matrix, honest: bool = False) -> VoteReading:
        """Votes for each row; `honest` says that the rows are the training rows, which must not vote for themselves."""
        n, known = rows.shape[0], self.labels.shape[0]
        found, cosine = self.nearest(rows, honest)
        near = found >= 0
        starts = np.concatenate([[0], np.cumsum(near.sum(1))])
        votes = sp.csr_matrix((cosine[near], found[near], starts), shape=(n, known)) @ self.labels
        votes.data /= self.count
        return VoteReading(votes.tocsr(), cosine[:, 0])

    def nearest(self, rows: sp.csr_matrix, honest: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """The nearest training rows, nearest first, and their cosines: rows x count, padded with -1 and 0."""
        found = np.full((rows.shape[0], self.count), -1, dtype=np.int32)
        cosine = np.zeros((rows.shape[0], self.count), dtype=np.float32)
        postings = self.post_starts, self.post_rows, self.post_weights
        known = self.labels.shape[0]
        across_threads(_nearest, rows.indptr, rows.indices, rows.data, *postings, known, honest, found, cosine)
        return found, cosine

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        arrays = {"starts": self.post_starts, "rows": self.post_rows, "weights": self.post_weights}
        return {"count": self.count, "most_rows": self.most_rows}, arrays | pack_csr("labels", self.labels)

    @classmethod
    def from_state(cls, settings: dict[str, Any], arrays: dict[str, np.ndarray]) -> Self:
        part = cls.__new__(cls)
        part.count, part.most_rows = settings["count"], settings["most_rows"]
        part.labels = unpack_csr(arrays, "labels")
        part._set_postings(arrays["starts"], arrays["rows"], arrays["weights"])
        return part
