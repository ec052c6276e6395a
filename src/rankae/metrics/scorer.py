"""Measures as scikit-learn's scorers, for `cross_val_score` and `GridSearchCV`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from rankae.errors import DataError, RankaeError
from rankae.metrics.summary import evaluate

_MEASURE = re.compile(r"(P|nDCG|PSP|PSnDCG|recall|coverage)@([1-9]\d{0,2})")


@dataclass(frozen=True)
class Scorer:
    """Called with a fitted model, rows and labels, it gives the measure, in percent.

    The model may be one of rankae's, the last step of a pipeline, what a search has found, or any estimator that has
    `decision_function` or `predict_proba` and an indicator matrix as labels.
    """

    measure: str

    def __call__(self, estimator: Any, X: Any, y: Any) -> float:
        place = int(self.measure.partition("@")[2])
        model, rows = _innermost(estimator, X)
        if hasattr(model, "evaluate"):
            return float(model.evaluate(rows, y, k=[place])[self.measure])
        scores, truth = _scores(model, rows), sp.csr_matrix(y)
        if scores.ndim != 2 or scores.shape != truth.shape:
            raise DataError(
                f"{type(model).__name__} gives scores of shape {scores.shape} for labels of shape {truth.shape}; a "
                "scorer needs a score of every label for every row"
            )
        best = np.argsort(-scores, axis=1, kind="stable")[:, :place]
        figures = evaluate(best, truth, [place])
        if self.measure not in figures:
            raise RankaeError(f"{self.measure} needs to know the training labels, which {type(model).__name__} forgets")
        return float(figures[self.measure])


def scorer(measure: str) -> Scorer:
    """A scorer such as "P@1", "nDCG@5" or "PSP@3".

    >>> scorer("P@1")
    Scorer(measure='P@1')
    """
    if not _MEASURE.fullmatch(measure):
        raise RankaeError(
            f"there is no measure {measure!r}; give P@k, nDCG@k, PSP@k, PSnDCG@k, recall@k or coverage@k, such as P@1"
        )
    return Scorer(measure)


def _innermost(estimator: Any, X: Any) -> tuple[Any, Any]:
    """The model within searches and pipelines, and the rows as it sees them."""
    while not hasattr(estimator, "evaluate"):
        if hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        elif hasattr(estimator, "steps"):
            X = estimator[:-1].transform(X) if len(estimator.steps) > 1 else X
            estimator = estimator.steps[-1][1]
        else:
            break
    return estimator, X


def _scores(model: Any, rows: Any) -> np.ndarray:
    """A score of every label for every row."""
    if hasattr(model, "decision_function"):
        return np.asarray(model.decision_function(rows))
    if not hasattr(model, "predict_proba"):
        raise RankaeError(f"{type(model).__name__} has no scores of labels, so it cannot be measured by its ranking")
    found = model.predict_proba(rows)
    if isinstance(found, list):  # an array for each label, as forests and neighbours have it
        found = np.stack([one[:, -1] for one in found], axis=1)
    return np.asarray(found)
