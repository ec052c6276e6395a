"""Nearest-neighbour votes: the labels of training rows with similar words.

They find rare labels, which a code of a few hundred dimensions cannot represent.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numba import njit

from rankae.components.frequent_words import FrequentWords
from rankae.components.predictions import SparsePredictions
from rankae.errors import ModelFileError
from rankae.model_file import unpack_csr
from rankae.numerics.ascending import pack_ascending, unpack_ascending
from rankae.numerics.row_search import RowSearch
from rankae.numerics.row_vectors import RowVectors
from rankae.numerics.shortlist import Shortlist
from rankae.numerics.table import RaggedTable


class VotePredictions(SparsePredictions):
    """Votes, and the similarities that show how reliable they are.

    closest : for each vote, the cosine of the nearest training row that carries the label.
    nearest : for each row, the cosine of the nearest training row.
    """

    def __init__(self, named: Shortlist, votes: np.ndarray, closest: np.ndarray, nearest: np.ndarray) -> None:
        super().__init__(named, votes)
        self.closest, self.nearest = closest, nearest


@njit(cache=True, nogil=True)
def _vote(nearest_rows, cosine, label_starts, label_columns, labels, count, starts, columns, votes, closest):
    """Each of a row's neighbours votes for its labels with its cosine; `columns` ascend within a row."""
    total, first = np.zeros(labels, np.float32), np.empty(labels, np.float32)
    used = 0
    for i in range(len(nearest_rows)):
        begin = used
        for place in range(nearest_rows.shape[1]):
            row = nearest_rows[i, place]
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
    """Votes of the nearest training rows, by the cosine of their words and vectors (see `RowSearch`).

    frequent : which rows have the words that the search does not store; None in models of older files, and where rows
        have vectors besides words.
    """

    name = "neighbours"

    def __init__(
        self, search: RowSearch, labels: sp.csr_matrix, count: int = 20, frequent: FrequentWords | None = None
    ) -> None:
        self.search, self.labels, self.count, self.frequent = search, labels, count, frequent
        self._label_counts = np.diff(labels.indptr)

    @classmethod
    def of(cls, rows: sp.csr_matrix, labels: sp.csr_matrix, count: int = 20, most_rows: int | None = None) -> Self:
        """Store the training rows; words of more than `most_rows` rows are left out of the search."""
        search = RowSearch.over(rows, most_rows)
        frequent = FrequentWords.of(rows, search.followed) if search.vectors is None else None
        return cls(search, labels, count, frequent)

    def predict(self, rows: sp.csr_matrix, leave_one_out: bool = False) -> VotePredictions:
        """Votes for each row; with `leave_one_out` the rows are the training rows, none of which votes for itself."""
        return self.votes(*self.nearest(rows, leave_one_out))

    def votes(self, nearest_rows: np.ndarray, cosine: np.ndarray) -> VotePredictions:
        """The votes of rows that `nearest` found."""
        room = int(self._label_counts[nearest_rows].sum())  # an upper bound: padding is counted too
        starts, columns = np.zeros(len(nearest_rows) + 1, dtype=np.int64), np.empty(room, dtype=np.int32)
        votes, closest = np.empty(room, dtype=np.float32), np.empty(room, dtype=np.float32)
        of_rows = self.labels.indptr, self.labels.indices, self.labels.shape[1]
        _vote(nearest_rows, cosine, *of_rows, np.float32(self.count), starts, columns, votes, closest)
        used = starts[-1]
        return VotePredictions(Shortlist(starts, columns[:used]), votes[:used], closest[:used], cosine[:, 0])

    def nearest(self, rows: sp.csr_matrix, leave_one_out: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """The nearest training rows, nearest first, and their cosines: rows x count, padded with -1 and 0."""
        return self.search.nearest(rows, self.count, leave_one_out)

    def proposed_without(
        self, nearest_rows: np.ndarray, cosine: np.ndarray, excluded: np.ndarray, k: int
    ) -> np.ndarray:
        """The k labels with most votes for each row, without the votes of the `excluded` training rows (bool)."""
        left = np.where((nearest_rows >= 0) & ~excluded[nearest_rows], cosine, 0)
        order = np.argsort(-left, axis=1, kind="stable")
        left = np.take_along_axis(left, order, axis=1)
        return self.votes(np.where(left > 0, np.take_along_axis(nearest_rows, order, axis=1), -1), left).propose(k)

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of words and of labels."""
        return self.search.words, self.labels.shape[1]

    def shrunk(self, precision: str) -> Neighbours:
        """A copy with the row weights in lower precision."""
        return Neighbours(self.search.shrunk(precision), self.labels, self.count, self.frequent)

    def of_rows(self, kept: np.ndarray) -> Neighbours:
        """Neighbours of the `kept` rows (bool) only, with the words that are stored here."""
        return Neighbours(self.search.of_rows(kept), self.labels[kept], self.count)

    def updated(self, rows: sp.csr_matrix, labels: sp.csr_matrix) -> Neighbours:
        """A copy with more rows that can vote."""
        labels = sp.vstack([self.labels, labels], format="csr")
        search, frequent = self.search.with_more(rows), None
        if self.frequent is not None:
            every = sp.vstack([self.remembered(), rows], format="csr")
            frequent = FrequentWords.of(every, search.followed)
        return Neighbours(search, labels, self.count, frequent)

    def remembered(self) -> sp.csr_matrix:
        """The words of all stored rows."""
        stored = self.search.matrix().tocsr().astype(np.float32)
        return stored if self.frequent is None else self.frequent.beside(stored)

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        weights, labels = self.search.weights, self.labels
        arrays = {"weights": weights.values} | pack_ascending(
            "rows", weights.starts, self.search.rows, self.search.size
        )
        if len(weights.scales):
            arrays["scales"] = weights.scales
        if self.search.vectors is not None:
            arrays |= self.search.vectors.state()
        arrays |= pack_ascending("labels", labels.indptr, labels.indices, labels.shape[1])
        if self.frequent is not None:
            arrays |= {f"frequent.{name}": value for name, value in self.frequent.state().items()}
        return {"count": self.count, "most_rows": self.search.most_rows, "size": self.search.size}, arrays

    @classmethod
    def from_state(cls, settings: dict[str, Any], arrays: dict[str, np.ndarray]) -> Self:
        if "size" in settings:
            starts, columns = unpack_ascending("labels", arrays)
            shape = settings["size"], int(arrays["labels.limit"])
            if len(starts) != shape[0] + 1:
                raise ModelFileError("the model's neighbours contradict themselves; train it again")
            ones = np.ones(len(columns), dtype=np.float32)
            labels = sp.csr_matrix((ones, columns.astype(np.int32, copy=False), starts), shape=shape)
            post_starts, rows = unpack_ascending("rows", arrays)
            weights = RaggedTable(post_starts, arrays["weights"], arrays.get("scales"))
            rows = rows.astype(np.int32) if rows.dtype == np.uint32 else rows
        else:  # the file layout of models up to 0.1
            labels = unpack_csr(arrays, "labels")
            weights, rows = RaggedTable(arrays["starts"], arrays["weights"], arrays.get("scales")), arrays["rows"]
        vectors = RowVectors.from_state(arrays, labels.shape[0], len(weights.starts) - 1)
        search = RowSearch(labels.shape[0], settings["most_rows"], rows, weights, vectors)
        if not search.holds_together():
            raise ModelFileError("the model's neighbours contradict themselves; train it again")
        of_frequent = {name.removeprefix("frequent."): v for name, v in arrays.items() if name.startswith("frequent.")}
        frequent = FrequentWords.from_state(of_frequent, search.size, search.words) if of_frequent else None
        return cls(search, labels, settings["count"], frequent)
