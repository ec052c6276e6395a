"""Evaluates a fitted model on rows and labels in Python, as `rankae evaluate` does with files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from rankae.base.inputs import Targets
from rankae.errors import DataError
from rankae.metrics import best_attainable, evaluate


def evaluated(model: Any, X: Any, truth: Targets, places: Sequence[int]) -> dict[str, float | int]:
    """All measures of `rankae.metrics.evaluate`; labels that the model has never seen count as misses."""
    columns, labels = predicted_and_true(model, X, truth, max(places))
    wide = np.full((len(columns), max(places)), -1, dtype=np.int32)
    wide[:, : columns.shape[1]] = columns
    return evaluate(wide, labels, places, training_labels(model)) | best_attainable(labels, places)


def predicted_and_true(model: Any, X: Any, truth: Targets, k: int) -> tuple[np.ndarray, sp.csr_matrix]:
    """Columns of the k best labels of each row, and the true labels in the same columns."""
    columns, _ = model.top_columns(X, k)
    if len(columns) != truth.matrix.shape[0]:
        raise DataError(f"there are {len(columns)} rows but {truth.matrix.shape[0]} rows of labels")
    return columns, in_columns_of(model.classes_, truth)


def in_columns_of(classes: np.ndarray, truth: Targets) -> sp.csr_matrix:
    """True labels in the columns of `classes`; unknown labels follow in further columns."""
    known = {name: i for i, name in enumerate(classes.tolist())}
    if truth.kind == "indicator" and not truth.named:
        to = np.arange(truth.matrix.shape[1])
    else:
        names = truth.classes.tolist()
        to = np.array([known.get(name, len(known) + i) for i, name in enumerate(names)], dtype=np.int64)
    coo = truth.matrix.tocoo()
    width = max(len(known), int(to.max(initial=-1)) + 1)
    return sp.csr_matrix((coo.data, (coo.row, to[coo.col])), shape=(truth.matrix.shape[0], width))


def training_labels(model: Any) -> sp.csr_matrix:
    """A label matrix with the label counts of the training rows, from which propensities are computed."""
    counts = np.asarray(model.label_counts_, dtype=np.int64)
    ends = np.concatenate([[0], np.cumsum(counts)])
    rows = np.arange(ends[-1]) - np.repeat(ends[:-1], counts)
    columns = sp.csc_matrix((np.ones(len(rows), np.float32), rows, ends), shape=(model.training_rows_, len(counts)))
    return columns.tocsr()
