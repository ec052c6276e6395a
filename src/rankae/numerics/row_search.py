"""Which rows of a matrix are nearest to a row, exactly: by postings of words, or by products where rows are dense.

Vectors that rows have besides their words are compared by products too, see `rankae.numerics.row_vectors`.
"""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch

from rankae.numerics.nearest_rows import add_words, keep_nearest, nearest_rows
from rankae.numerics.row_vectors import RowVectors
from rankae.numerics.shards import HERE, Arrays, Span, Workers, even_spans, workers_for
from rankae.numerics.table import RaggedTable
from rankae.numerics.threads import across_threads

MOST_ROWS, EVERY_ROW = 3000, 2**31 - 1  # `most_rows` where rows are sparse, and where they are dense
_DENSE = 0.3  # of the features of a row are not 0
_SHARD_ROWS = 50_000  # that a worker looks up at a time
_AT_ONCE = 256  # rows whose similarities to all indexed rows are held in memory


def is_dense(rows: sp.csr_matrix) -> bool:
    return rows.nnz > _DENSE * rows.shape[0] * rows.shape[1]


class RowSearch:
    """The rows of largest inner product with a row, by the postings of its words.

    A word that occurs in more rows than `most_rows` is not followed: it says little and costs most. Where rows are
    dense that does not hold: all features are followed, by matrix products instead of postings.
    """

    def __init__(
        self, size: int, most_rows: int, rows: np.ndarray, weights: RaggedTable, vectors: RowVectors | None = None
    ) -> None:
        """
        Parameters
        ----------
        size : how many rows are indexed.
        rows, weights : the rows that have each word, ascending, and the word's weights there.
        vectors : what rows have besides words; no posting has a number of theirs.
        """
        self.size, self.most_rows, self.rows, self.weights, self.vectors = size, most_rows, rows, weights, vectors
        self._short_rows: np.ndarray | None = None
        self._table: torch.Tensor | None = None

    @classmethod
    def over(cls, rows: sp.csr_matrix, most_rows: int | None = None) -> RowSearch:
        if most_rows is None:
            most_rows = EVERY_ROW if is_dense(rows) else MOST_ROWS
        vectors = None if most_rows == EVERY_ROW else RowVectors.of(rows)
        postings = rows.tocsc()
        lengths = np.diff(postings.indptr)
        followed = lengths <= most_rows
        if vectors is not None:
            followed[vectors.first :] = False
        kept = np.repeat(followed, lengths)
        starts = np.concatenate([[0], np.cumsum(np.where(followed, lengths, 0))])
        table = RaggedTable(starts, postings.data[kept])
        return cls(rows.shape[0], most_rows, postings.indices[kept], table, vectors)

    def with_more(self, rows: sp.csr_matrix) -> RowSearch:
        """With some more rows, by the words that are followed: new rows alone would not speak for others."""
        followed = self.followed
        kept = sp.csr_matrix(rows, copy=True)
        kept.data *= followed[kept.indices]
        kept.eliminate_zeros()
        larger = RowSearch.over(sp.vstack([self.matrix().tocsr(), kept], format="csr"), self.most_rows)
        larger.vectors = None if self.vectors is None else self.vectors.with_more(rows)
        return larger

    def of_rows(self, kept: np.ndarray) -> RowSearch:
        """Over the `kept` rows (bool) only, by the words and the directions of vectors that are followed here."""
        fewer = RowSearch.over(self.matrix().tocsr()[kept], self.most_rows)
        fewer.vectors = None if self.vectors is None else self.vectors.of_rows(kept)
        return fewer

    @property
    def followed(self) -> np.ndarray:
        """bool [words]: whether the postings of the word are stored, and there are any."""
        return np.diff(self.weights.starts) > 0

    @property
    def words(self) -> int:
        return len(self.weights.starts) - 1

    def matrix(self) -> sp.csc_matrix:
        """The indexed rows, without the words that are not followed."""
        rows = self.rows.astype(np.int32, copy=False)
        return sp.csc_matrix((np.asarray(self.weights), rows, self.weights.starts), shape=(self.size, self.words))

    def nearest(self, rows: sp.csr_matrix, count: int, leave_one_out: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """The nearest indexed rows, nearest first, and their inner products: rows x count, padded with -1 and 0.

        leave_one_out : the rows are the indexed rows, and none is its own neighbour.
        """
        nearest = np.full((rows.shape[0], count), -1, dtype=np.int32)
        cosine = np.zeros((rows.shape[0], count), dtype=np.float32)
        if self.most_rows == EVERY_ROW:
            self._compare_with_all(rows, leave_one_out, nearest, cosine)
            return nearest, cosine
        if self.vectors is not None:
            self._compare_vectors_too(self.vectors, rows, leave_one_out, nearest, cosine)
            return nearest, cosine
        workers = workers_for(self._followed()) if leave_one_out else HERE
        if workers is not HERE:
            return self._nearest_elsewhere(workers, rows, count)
        tokens = rows.indptr, rows.indices, rows.data
        across_threads(nearest_rows, *tokens, *self._postings(), self.size, leave_one_out, nearest, cosine)
        return nearest, cosine

    def _postings(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        if self._short_rows is None:  # postings come from memory, so fewer bytes of them take less time
            self._short_rows = self.rows.astype(np.uint16, copy=False) if self.size <= 2**16 else self.rows
        return self.weights.starts, self._short_rows, self.weights.stored, self.weights.scales

    def _followed(self) -> float:
        """Pairs of indexed rows that share a word that is followed."""
        return float((np.diff(self.weights.starts).astype(np.float64) ** 2).sum())

    def _nearest_elsewhere(self, workers: Workers, rows: sp.csr_matrix, count: int) -> tuple[np.ndarray, np.ndarray]:
        w = self.weights
        shared = {"rows": rows, "starts": w.starts, "postings": self.rows, "weights": w.values, "scales": w.scales}
        settings = {"size": self.size, "count": count}
        spans = even_spans(rows.shape[0], workers.shards(-(-rows.shape[0] // _SHARD_ROWS)))
        results = list(workers.map("neighbours", nearest_of_span, shared, settings, spans))
        nearest, cosine = (np.concatenate([result[name] for result in results]) for name in ("nearest", "cosine"))
        return nearest, cosine

    def _compare_with_all(
        self, rows: sp.csr_matrix, leave_one_out: bool, nearest: np.ndarray, cosine: np.ndarray
    ) -> None:
        if self._table is None:
            self._table = torch.from_numpy(np.ascontiguousarray(self.matrix().toarray(), dtype=np.float32))
        for start in range(0, rows.shape[0], _AT_ONCE):
            block = slice(start, start + _AT_ONCE)
            similarities = (torch.from_numpy(rows[block].toarray()) @ self._table.T).numpy()
            every = np.arange(len(similarities) + 1)
            if leave_one_out:
                similarities[every[:-1], start + every[:-1]] = 0
            across_threads(keep_nearest, every, similarities, nearest[block], cosine[block])

    def _compare_vectors_too(
        self, vectors: RowVectors, rows: sp.csr_matrix, leave_one_out: bool, nearest: np.ndarray, cosine: np.ndarray
    ) -> None:
        for start in range(0, rows.shape[0], _AT_ONCE):
            block = slice(start, start + _AT_ONCE)
            some = rows[block]
            similarities = vectors.similarities(some)
            across_threads(add_words, some.indptr, some.indices, some.data, *self._postings(), similarities)
            every = np.arange(len(similarities) + 1)
            if leave_one_out:
                similarities[every[:-1], start + every[:-1]] = 0
            across_threads(keep_nearest, every, similarities, nearest[block], cosine[block])

    def shrunk(self, precision: str) -> RowSearch:
        """The same rows with smaller weights."""
        small = copy(self)
        small.rows = self.rows.astype(np.uint16) if self.size <= 2**16 else self.rows
        small.weights = self.weights.at(precision)
        small.vectors = None if self.vectors is None else self.vectors.shrunk(precision)
        small._short_rows = small._table = None
        return small

    def holds_together(self) -> bool:
        """Whether every place that a loop reads is within its array, whoever wrote the file."""
        starts = self.weights.starts
        within = self.rows.min(initial=0) >= 0 and self.rows.max(initial=0) < max(self.size, 1)
        ascending = starts[0] == 0 and starts[-1] == len(self.rows) and np.diff(starts).min(initial=0) >= 0
        return bool(within and ascending)


def nearest_of_span(shared: dict[str, Any], settings: dict[str, Any], span: Span) -> Arrays:
    """The nearest other rows of the indexed rows first:last, by postings."""
    first, last = span
    rows, count = shared["rows"], settings["count"]
    # The kernel writes at the rows' own places, by which it knows a row from the others: only the pages of the span
    # are ever touched.
    nearest = np.empty((rows.shape[0], count), dtype=np.int32)
    cosine = np.empty((rows.shape[0], count), dtype=np.float32)
    nearest[first:last], cosine[first:last] = -1, 0
    postings = RaggedTable(shared["starts"], shared["weights"], shared["scales"])
    indexed = postings.starts, shared["postings"], postings.stored, postings.scales
    nearest_rows(first, last, rows.indptr, rows.indices, rows.data, *indexed, settings["size"], True, nearest, cosine)
    return {"nearest": nearest[first:last], "cosine": cosine[first:last]}
