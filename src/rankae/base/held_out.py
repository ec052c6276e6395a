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
    groups : for each row, the number of its group of alike rows; None if each row is its own.
    """

    columns: np.ndarray
    scores: np.ndarray
    labels: sp.csr_matrix
    nearest: np.ndarray | None = None
    groups: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.columns)

    @property
    def hits(self) -> np.ndarray:
        """bool, rows x k: whether the predicted label is one of the row's."""
        return hits(self.columns, self.labels)

    def taken(self, rows: np.ndarray) -> HeldOut:
        nearest, groups = (None if own is None else own[rows] for own in (self.nearest, self.groups))
        return HeldOut(self.columns[rows], self.scores[rows], self.labels[rows], nearest, groups)

    def evidence(self) -> np.ndarray:
        """How many independent rows each row is worth: the rows of a group are together worth one."""
        if self.groups is None:
            return np.ones(len(self))
        _, group, sizes = np.unique(self.groups, return_inverse=True, return_counts=True)
        return 1 / sizes[group]

    def of_groups(self, values: np.ndarray) -> np.ndarray:
        """The sum of the rows' values in each group of alike rows."""
        if self.groups is None:
            return values
        return np.bincount(np.unique(self.groups, return_inverse=True)[1], weights=values)

    def first_half(self) -> np.ndarray:
        """bool: about half of the rows; alike rows are on one side."""
        return first_half(np.arange(len(self)) if self.groups is None else self.groups)

    def novel(self) -> np.ndarray:
        """Indices of the rows without a near-duplicate among the training rows; of all rows if these are too few."""
        return np.arange(len(self)) if self.nearest is None else novel_places(self.nearest)

    def joined(self, others: HeldOut, most: int) -> HeldOut:
        """At most `most` rows: the others, then these. The number of labels is the larger one of both."""
        rows, places = len(self) + len(others), max(self.columns.shape[1], others.columns.shape[1])
        columns = np.full((rows, places), -1, dtype=np.int32)
        scores = np.full((rows, places), -np.inf, dtype=np.float32)
        nearest = np.zeros(rows, dtype=np.float32)
        groups = np.arange(rows, dtype=np.int64)  # rows without a group are each their own
        begin, labels, labels_known = 0, [], max(self.labels.shape[1], others.labels.shape[1])
        for one in (others, self):
            span = slice(begin, begin + len(one))
            columns[span, : one.columns.shape[1]], scores[span, : one.scores.shape[1]] = one.columns, one.scores
            nearest[span] = 0 if one.nearest is None else one.nearest
            if one.groups is not None:
                groups[span] = begin + np.unique(one.groups, return_inverse=True)[1]
            matrix = sp.csr_matrix(one.labels)
            labels.append(sp.csr_matrix((matrix.data, matrix.indices, matrix.indptr), shape=(len(one), labels_known)))
            begin += len(one)
        joined = HeldOut(columns, scores, sp.vstack(labels, format="csr"), nearest, groups)
        return joined.taken(np.arange(min(rows, most)))

    def state(self) -> dict[str, np.ndarray]:
        arrays = {
            "columns": np.ascontiguousarray(self.columns[:, :_KEPT_PLACES], dtype=np.int32),
            "scores": np.ascontiguousarray(self.scores[:, :_KEPT_PLACES], dtype=np.float32),
            "starts": self.labels.indptr.astype(np.int64),
            "labels": self.labels.indices.astype(np.int32),
        }
        for name, own in (("nearest", self.nearest), ("groups", self.groups)):
            if own is not None:
                arrays[name] = own.astype(np.float32 if name == "nearest" else np.int32)
        return arrays

    @classmethod
    def from_state(cls, arrays: dict[str, Any], labels: int) -> HeldOut:
        columns, scores, starts, indices = (arrays[name] for name in ("columns", "scores", "starts", "labels"))
        sound = columns.shape == scores.shape and columns.ndim == 2 and starts.shape == (len(columns) + 1,)
        sound = sound and starts[0] == 0 and starts[-1] == len(indices) and bool((np.diff(starts) >= 0).all())
        for places in (columns, indices):
            sound = sound and places.max(initial=-1) < labels and places.min(initial=0) >= -1
        nearest, groups = arrays.get("nearest"), arrays.get("groups")  # older models have none
        sound = sound and all(own is None or own.shape == (len(columns),) for own in (nearest, groups))
        if not sound or indices.min(initial=0) < 0:
            raise ModelFileError("the model's held-out predictions do not fit its labels; train it again")
        ones = np.ones(len(indices), dtype=np.float32)
        return cls(
            columns, scores, sp.csr_matrix((ones, indices, starts), shape=(len(columns), labels)), nearest, groups
        )


def first_half(groups: np.ndarray) -> np.ndarray:
    """bool: whether each row is in the first of two halves that share no group.

    Every second row if large groups leave less than a quarter of the rows to one half.
    """
    half = np.unique(groups, return_inverse=True)[1] % 2 == 0
    return half if 0.25 <= half.mean() <= 0.75 else np.arange(len(groups)) % 2 == 0


def hits(columns: np.ndarray, labels: sp.csr_matrix) -> np.ndarray:
    """Whether each predicted column [rows, k] is one of the row's labels; False where nothing was predicted."""
    width = np.int64(labels.shape[1])
    row = np.repeat(np.arange(labels.shape[0], dtype=np.int64), np.diff(labels.indptr))
    true = row * width + labels.indices
    predicted = np.arange(len(columns), dtype=np.int64)[:, None] * width + columns
    return np.isin(predicted, true) & (columns >= 0) & (columns < width)
