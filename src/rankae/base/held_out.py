"""Predictions for held-out rows, on which calibration and cuts are fitted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from rankae.data.near_duplicates import novel_places
from rankae.errors import ModelFileError

MOST_PLACES = 100  # labels per row that calibration reads
_KEPT_PLACES = 50  # labels per row that a saved model keeps for choosing cuts


@dataclass(frozen=True)
class HeldOut:
    """The best labels of each row, best first, and its true labels.

    columns : int32 [rows, k], -1 where nothing was predicted.
    scores : float32 [rows, k], -inf where nothing was predicted.
    labels : CSR, rows x labels.
    nearest : for each row, the cosine of the nearest training row; None if it was not computed.
    """

    columns: np.ndarray
    scores: np.ndarray
    labels: sp.csr_matrix
    nearest: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.columns)

    @property
    def hits(self) -> np.ndarray:
        """bool, rows x k: whether the predicted label is one of the row's."""
        return hits(self.columns, self.labels)

    def taken(self, rows: np.ndarray) -> HeldOut:
        nearest = None if self.nearest is None else self.nearest[rows]
        return HeldOut(self.columns[rows], self.scores[rows], self.labels[rows], nearest)

    def novel(self) -> np.ndarray:
        """Indices of the rows without a near-duplicate among the training rows; of all rows if these are too few."""
        return np.arange(len(self)) if self.nearest is None else novel_places(self.nearest)

    def joined(self, others: HeldOut, most: int) -> HeldOut:
        """At most `most` rows: the others, then these. The number of labels is the larger one of both."""
        rows, places = len(self) + len(others), max(self.columns.shape[1], others.columns.shape[1])
        columns = np.full((rows, places), -1, dtype=np.int32)
        scores = np.full((rows, places), -np.inf, dtype=np.float32)
        nearest = np.zeros(rows, dtype=np.float32)
        begin, labels, labels_known = 0, [], max(self.labels.shape[1], others.labels.shape[1])
        for one in (others, self):
            span = slice(begin, begin + len(one))
            columns[span, : one.columns.shape[1]], scores[span, : one.scores.shape[1]] = one.columns, one.scores
            nearest[span] = 0 if one.nearest is None else one.nearest
            matrix = sp.csr_matrix(one.labels)
            labels.append(sp.csr_matrix((matrix.data, matrix.indices, matrix.indptr), shape=(len(one), labels_known)))
            begin += len(one)
        return HeldOut(columns[:most], scores[:most], sp.vstack(labels, format="csr")[:most], nearest[:most])

    def state(self) -> dict[str, np.ndarray]:
        arrays = {
            "columns": np.ascontiguousarray(self.columns[:, :_KEPT_PLACES], dtype=np.int32),
            "scores": np.ascontiguousarray(self.scores[:, :_KEPT_PLACES], dtype=np.float32),
            "starts": self.labels.indptr.astype(np.int64),
            "labels": self.labels.indices.astype(np.int32),
        }
        return arrays if self.nearest is None else arrays | {"nearest": self.nearest.astype(np.float32)}

    @classmethod
    def from_state(cls, arrays: dict[str, Any], labels: int) -> HeldOut:
        columns, scores, starts, indices = (arrays[name] for name in ("columns", "scores", "starts", "labels"))
        sound = columns.shape == scores.shape and columns.ndim == 2 and starts.shape == (len(columns) + 1,)
        sound = sound and starts[0] == 0 and starts[-1] == len(indices) and bool((np.diff(starts) >= 0).all())
        for places in (columns, indices):
            sound = sound and places.max(initial=-1) < labels and places.min(initial=0) >= -1
        nearest = arrays.get("nearest")  # older models have none
        sound = sound and (nearest is None or nearest.shape == (len(columns),))
        if not sound or indices.min(initial=0) < 0:
            raise ModelFileError("the model's held-out predictions do not fit its labels; train it again")
        ones = np.ones(len(indices), dtype=np.float32)
        return cls(columns, scores, sp.csr_matrix((ones, indices, starts), shape=(len(columns), labels)), nearest)


def hits(columns: np.ndarray, labels: sp.csr_matrix) -> np.ndarray:
    """Whether each predicted column [rows, k] is one of the row's labels; False where nothing was predicted."""
    width = np.int64(labels.shape[1])
    row = np.repeat(np.arange(labels.shape[0], dtype=np.int64), np.diff(labels.indptr))
    true = row * width + labels.indices
    predicted = np.arange(len(columns), dtype=np.int64)[:, None] * width + columns
    return np.isin(predicted, true) & (columns >= 0) & (columns < width)
