"""The vote of the nearest training rows: labels that rows with the same words carry.

It finds rare labels that a code of a few hundred numbers has no room for.
"""

from __future__ import annotations

from copy import copy
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
import torch
from numba import njit

from rankae.errors import ModelFileError
from rankae.model_file import pack_csr, unpack_csr
from rankae.network.kernels.threads import across_threads
from rankae.network.table import RaggedTable
from rankae.refine.nearest_rows import keep_nearest, nearest_rows
from rankae.refine.readings import SparseReading
from rankae.refine.shortlist import Shortlist

MOST_ROWS, EVERY_ROW = 3000, 2**31 - 1  # `most_rows` where rows are sparse, and where they are dense
_DENSE = 0.3  # of the features of a row are not 0
_AT_ONCE = 256  # rows whose similarities to all training rows are held in memory


def is_dense(rows: sp.csr_matrix) -> bool:
    return rows.nnz > _DENSE * rows.shape[0] * rows.shape[1]


class VoteReading(SparseReading):
    """Votes, and how far they can be trusted.

    closest : for each vote, the cosine of the nearest training row that carries the label.
    nearest : for each row, the cosine of the nearest training row.
    """

    def __init__(self, named: Shortlist, votes: np.ndarray, closest: np.ndarray, nearest: np.ndarray) -> None:
        super().__init__(named, votes)
        self.closest, self.nearest = closest, nearest

    def taken(self, rows: np.ndarray) -> VoteReading:
        entries = self.named.entries_of(rows)
        return VoteReading(self.named.taken(rows), self.values[entries], self.closest[entries], self.nearest[rows])


@njit(cache=True, nogil=True)
def _vote(found, cosine, label_starts, label_columns, labels, count, starts, columns, votes, closest):
    """Each of a row's neighbours votes for its labels with its cosine; `columns` ascend within a row."""
    total, first = np.zeros(labels, np.float32), np.empty(labels, np.float32)
    used = 0
    for i in range(len(found)):
        begin = used
        for place in range(found.shape[1]):
            row = found[i, place]
            if row < 0:
                break
            for t in range(label_starts[row], label_starts[row + 1]):
                label = label_columns[t]
                if total[label] == 0:
                    columns[used] = label
                    first[label] = cosine[i, place]  # the nearest comes first
                    used += 1
                total[label] += cosine[i, place]
        columns[begin:used].sort()
        for t in range(begin, used):
            votes[t], closest[t] = total[columns[t]] / count, first[columns[t]]
            total[columns[t]] = 0
        starts[i + 1] = used


class Neighbours:
    """Votes of the nearest training rows, by the cosine of their weighted words.

    A word that occurs in more rows than `most_rows` is not followed: it says little and costs most. Where rows are
    dense that does not hold: all features are followed, by matrix products instead of postings.
    """

    name = "neighbours"

    def __init__(
        self, rows: sp.csr_matrix, labels: sp.csr_matrix, count: int = 20, most_rows: int | None = None
    ) -> None:
        if most_rows is None:
            most_rows = EVERY_ROW if is_dense(rows) else MOST_ROWS
        self.count, self.most_rows = count, most_rows
        self.labels = labels
        postings = rows.tocsc()
        lengths = np.diff(postings.indptr)
        kept = np.repeat(lengths <= most_rows, lengths)
        starts = np.concatenate([[0], np.cumsum(np.where(lengths <= most_rows, lengths, 0))])
        self._set_postings(postings.indices[kept], RaggedTable(starts, postings.data[kept]))

    def _set_postings(self, rows: np.ndarray, weights: RaggedTable) -> None:
        self.post_rows, self.post_weights = rows, weights
        self._label_counts = np.diff(self.labels.indptr)
        self._short_rows: np.ndarray | None = None
        self._table: torch.Tensor | None = None

    def read(self, rows: sp.csr_matrix, honest: bool = False) -> VoteReading:
        """Votes for each row; `honest` says that the rows are the training rows, which must not vote for themselves."""
        return self.votes(*self.nearest(rows, honest))

    def votes(self, found: np.ndarray, cosine: np.ndarray) -> VoteReading:
        """The votes of rows that `nearest` found."""
        room = int(self._label_counts[found].sum())  # of padding too, which does no harm
        starts, columns = np.zeros(len(found) + 1, dtype=np.int64), np.empty(room, dtype=np.int32)
        votes, closest = np.empty(room, dtype=np.float32), np.empty(room, dtype=np.float32)
        of_rows = self.labels.indptr, self.labels.indices, self.labels.shape[1]
        _vote(found, cosine, *of_rows, np.float32(self.count), starts, columns, votes, closest)
        used = starts[-1]
        return VoteReading(Shortlist(starts, columns[:used]), votes[:used], closest[:used], cosine[:, 0])

    def nearest(self, rows: sp.csr_matrix, honest: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """The nearest training rows, nearest first, and their cosines: rows x count, padded with -1 and 0."""
        found = np.full((rows.shape[0], self.count), -1, dtype=np.int32)
        cosine = np.zeros((rows.shape[0], self.count), dtype=np.float32)
        weights, known = self.post_weights, self.labels.shape[0]
        if self.most_rows == EVERY_ROW:
            self._compare_with_all(rows, honest, found, cosine)
            return found, cosine
        if self._short_rows is None:  # postings come from memory, so fewer bytes of them take less time
            self._short_rows = self.post_rows.astype(np.uint16, copy=False) if known <= 2**16 else self.post_rows
        postings = weights.starts, self._short_rows, weights.stored, weights.scales
        across_threads(nearest_rows, rows.indptr, rows.indices, rows.data, *postings, known, honest, found, cosine)
        return found, cosine

    def _compare_with_all(self, rows: sp.csr_matrix, honest: bool, found: np.ndarray, cosine: np.ndarray) -> None:
        if self._table is None:
            weights, shape = self.post_weights, (self.labels.shape[0], self.shape[0])
            postings = sp.csc_matrix((np.asarray(weights), self.post_rows, weights.starts), shape=shape)
            self._table = torch.from_numpy(np.ascontiguousarray(postings.toarray(), dtype=np.float32))
        for start in range(0, rows.shape[0], _AT_ONCE):
            block = slice(start, start + _AT_ONCE)
            similarities = (torch.from_numpy(rows[block].toarray()) @ self._table.T).numpy()
            every = np.arange(len(similarities) + 1)
            if honest:
                similarities[every[:-1], start + every[:-1]] = 0
            across_threads(keep_nearest, every, similarities, found[block], cosine[block])

    def proposed_without(self, found: np.ndarray, cosine: np.ndarray, away: np.ndarray, k: int) -> np.ndarray:
        """The k labels with most votes for each row if some training rows, `away` (bool), had no vote."""
        left = np.where((found >= 0) & ~away[found], cosine, 0)
        order = np.argsort(-left, axis=1, kind="stable")
        left = np.take_along_axis(left, order, axis=1)
        return self.votes(np.where(left > 0, np.take_along_axis(found, order, axis=1), -1), left).propose(k)

    @property
    def shape(self) -> tuple[int, int]:
        """Words and labels that it knows."""
        return len(self.post_weights.starts) - 1, self.labels.shape[1]

    def shrunk(self, precision: str) -> Neighbours:
        """The same rows with smaller weights."""
        part = copy(self)
        rows = self.post_rows.astype(np.uint16) if self.labels.shape[0] <= 2**16 else self.post_rows
        part._set_postings(rows, self.post_weights.at(precision))
        return part

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        weights = self.post_weights
        arrays = {"starts": weights.starts, "rows": self.post_rows, "weights": weights.values}
        if len(weights.scales):
            arrays["scales"] = weights.scales
        return {"count": self.count, "most_rows": self.most_rows}, arrays | pack_csr("labels", self.labels)

    @classmethod
    def from_state(cls, settings: dict[str, Any], arrays: dict[str, np.ndarray]) -> Self:
        part = cls.__new__(cls)
        part.count, part.most_rows = settings["count"], settings["most_rows"]
        part.labels = unpack_csr(arrays, "labels")
        part._set_postings(arrays["rows"], RaggedTable(arrays["starts"], arrays["weights"], arrays.get("scales")))
        starts, known = part.post_weights.starts, part.labels.shape[0]
        # The loops trust these places, whoever wrote the file.
        within = part.post_rows.min(initial=0) >= 0 and part.post_rows.max(initial=0) < max(known, 1)
        ascending = starts[0] == 0 and starts[-1] == len(part.post_rows) and np.diff(starts).min(initial=0) >= 0
        if not (within and ascending):
            raise ModelFileError("the model's neighbours contradict themselves; train it again")
        return part
