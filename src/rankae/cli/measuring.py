"""Evaluates a model on a data set, for `evaluate`, `train --validation` and `demo`."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from rankae.base.evaluation import training_labels
from rankae.data.dataset import Dataset
from rankae.errors import DataError
from rankae.metrics import Selection, best_attainable, evaluate, evaluate_probabilities
from rankae.progress import bar

if TYPE_CHECKING:
    from rankae.base.ranker import LabelRanker

BATCH_ROWS = 1024
PLACES_FOR_CUTS = 50  # labels per row for F1 and probabilities


@dataclass(frozen=True)
class Measured:
    """The predictions for all rows, and the measures computed from them.

    columns, scores : [rows, k], best first.
    probabilities : likewise; None for a model without calibration.
    given : which labels are predicted, by the stored cut or the threshold.
    labels, names : the true labels, and the names of their columns.
    """

    figures: dict[str, float | int]
    columns: np.ndarray
    scores: np.ndarray
    probabilities: np.ndarray | None
    given: np.ndarray
    labels: sp.csr_matrix
    names: list[str]


def measure(model: LabelRanker, data: Dataset, places: Sequence[int] = (1, 3, 5)) -> dict[str, float | int]:
    """All measures in percent; labels that the model has never seen count as misses."""
    return measured(model, data, places).figures


def measured(model: LabelRanker, data: Dataset, places: Sequence[int] = (1, 3, 5)) -> Measured:
    """As `measure`, with the predictions."""
    data = matched(model, data)
    k = max(*places, min(PLACES_FOR_CUTS, len(model.classes_)))
    columns = np.full((len(data), k), -1, dtype=np.int32)
    scores = np.full((len(data), k), -np.inf, dtype=np.float32)
    with bar("evaluating", len(data)) as progress:
        for start in range(0, len(data), BATCH_ROWS):
            rows = data.rows[start : start + BATCH_ROWS]
            best, values = model.top_columns(rows, k)
            columns[start : start + BATCH_ROWS, : best.shape[1]] = best
            scores[start : start + BATCH_ROWS, : best.shape[1]] = values
            progress.advance(len(best))
    measures: dict[str, float | int] = evaluate(columns[:, : max(places)], data.labels, places, training_labels(model))
    measures |= best_attainable(data.labels, places)
    probabilities = None
    if model.calibration_ is not None:
        probabilities = model.probabilities(columns, scores)
        measures |= evaluate_probabilities(columns, probabilities, data.labels, places)
    selected = model.selected(columns, scores, probabilities)
    measures |= Selection.of(columns, selected, data.labels).measures()
    figures = {name: round(value, 4) for name, value in measures.items()}
    names = data.label_names or [str(name) for name in model.classes_.tolist()]
    names += [str(column) for column in range(len(names), data.n_labels)]
    return Measured(figures, columns, scores, probabilities, selected, data.labels, names)


def matched(model: LabelRanker, data: Dataset) -> Dataset:
    """`data` with the model's feature columns, and its label columns before any others."""
    classes = model.classes_.tolist()
    names: Sequence[Hashable]
    if data.label_names is not None:
        names = [str(name) for name in classes]
    elif model.classes_.dtype.kind == "i":
        names = classes
    else:  # columns without names, as in a file without its labels.txt, are the model's columns
        names = range(len(classes))
    aligned = model.matching(data.aligned_to(names))
    if aligned.labels.nnz and not (aligned.labels.indices < len(classes)).any():
        raise DataError(f"{data.name}: the model knows none of its labels; was it trained on other data?")
    return aligned
