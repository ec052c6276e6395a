"""Predictions compared with the truth, row by row: P@k, nDCG@k and recall@k."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from rankae.errors import DataError


@dataclass(frozen=True)
class Judged:
    """Checked predictions and true labels, from which every measure is computed.

    columns : int, rows x k; the predicted labels, best first, -1 where nothing was predicted.
    labels : CSR, rows x labels, in canonical form; a stored entry is a true label.
    hits : bool, rows x k; whether the predicted label is true.
    """

    columns: np.ndarray
    labels: sp.csr_matrix
    hits: np.ndarray

    @property
    def counts(self) -> np.ndarray:
        """Number of true labels of each row."""
        return np.diff(self.labels.indptr)

    def precision(self, k: int) -> np.ndarray:
        """P@k of each row: hits among the first k, divided by k."""
        return self.hits[:, :k].sum(axis=1) / k

    def recall(self, k: int) -> np.ndarray:
        """Share of each row's labels found among the first k; 0 for a row without labels."""
        return self.hits[:, :k].sum(axis=1) / np.maximum(self.counts, 1)

    def ndcg(self, k: int) -> np.ndarray:
        """nDCG@k of each row: sum of 1 / log2(place + 1) over hits, divided by the same sum if all hits came first."""
        gained = self.hits[:, :k] @ discounts(self.hits[:, :k].shape[1])
        return gained / ideal_gain(self.counts, k)


def judge(columns: np.ndarray, labels: sp.csr_matrix) -> Judged:
    """Check predictions and truth, and find which predictions are true."""
    columns = np.asarray(columns)
    labels = _canonical(labels)
    _check(columns, labels)
    return Judged(columns, labels, _hits(columns, labels))


def precision_rows(columns: np.ndarray, labels: sp.csr_matrix, k: int) -> np.ndarray:
    """P@k of each row, between 0 and 1."""
    return judge(columns, labels).precision(k)


def recall_rows(columns: np.ndarray, labels: sp.csr_matrix, k: int) -> np.ndarray:
    """Recall@k of each row, between 0 and 1."""
    return judge(columns, labels).recall(k)


def ndcg_rows(columns: np.ndarray, labels: sp.csr_matrix, k: int) -> np.ndarray:
    """nDCG@k of each row, between 0 and 1."""
    return judge(columns, labels).ndcg(k)


def discounts(k: int) -> np.ndarray:
    """Weight of places 1..k in DCG."""
    return 1 / np.log2(np.arange(2, k + 2))


def ideal_gain(counts: np.ndarray, k: int) -> np.ndarray:
    """DCG of a row whose first min(k, counts) places are all hits; that of one hit where there is no label."""
    return np.cumsum(discounts(k))[np.clip(counts, 1, k) - 1]


def _canonical(labels: sp.csr_matrix) -> sp.csr_matrix:
    """Truth as sorted, distinct, non-zero entries, leaving the caller's matrix as it is."""
    labels = sp.csr_matrix(labels)
    if not labels.has_canonical_format or (labels.nnz and not labels.data.all()):
        labels = labels.copy()
        labels.sum_duplicates()
        labels.eliminate_zeros()
    return labels


def _check(columns: np.ndarray, labels: sp.csr_matrix) -> None:
    rows, n_labels = labels.shape
    if columns.ndim != 2 or columns.dtype.kind not in "iu":
        raise DataError("predictions must be an integer array of label columns, one row for each row of the data")
    if len(columns) != rows:
        raise DataError(f"there are predictions for {len(columns)} rows but labels for {rows}")
    if rows == 0:
        raise DataError("there are no rows to evaluate")
    if columns.size and (columns.max() >= n_labels or columns.min() < -1):
        wrong = columns[(columns >= n_labels) | (columns < -1)][0]
        raise DataError(f"label column {wrong} was predicted, but the label matrix has {n_labels} columns")
    in_order = np.sort(columns, axis=1)
    twice = (in_order[:, 1:] == in_order[:, :-1]) & (in_order[:, 1:] >= 0)
    if twice.any():
        row, place = np.argwhere(twice)[0]
        raise DataError(f"row {row}: label column {in_order[row, place]} was predicted twice")


def _hits(columns: np.ndarray, labels: sp.csr_matrix) -> np.ndarray:
    """Membership by one binary search: columns are sorted within rows, so row * width + column is sorted too."""
    rows, n_labels = labels.shape
    if labels.nnz == 0 or columns.size == 0:
        return np.zeros(columns.shape, dtype=bool)
    width = n_labels + 1  # column -1 of a row must not read as the last column of the row before
    row_of = np.repeat(np.arange(rows, dtype=np.int64), np.diff(labels.indptr))
    true = row_of * width + labels.indices
    wanted = np.arange(rows, dtype=np.int64)[:, None] * width + np.where(columns < 0, n_labels, columns)
    place = np.searchsorted(true, wanted.ravel())
    return (true[np.minimum(place, len(true) - 1)] == wanted.ravel()).reshape(columns.shape)
