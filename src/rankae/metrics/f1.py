"""F1 of predicted label sets: micro, macro, weighted and example-based, and results by label.

As in scikit-learn: macro and weighted F1 are over the labels that are true or predicted for some row. A row without
true and predicted labels counts 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from rankae.metrics.judged import Judged, judge


@dataclass(frozen=True)
class Selection:
    """The labels that are predicted for each row (`given`), compared with the truth."""

    judged: Judged
    given: np.ndarray  # bool, rows x k

    @classmethod
    def of(cls, columns: np.ndarray, given: np.ndarray, labels: sp.csr_matrix) -> Selection:
        judged = judge(columns, labels)
        return cls(judged, np.asarray(given, dtype=bool) & (judged.columns >= 0))

    @property
    def by_label(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Support, number of predictions and hits of each label column."""
        width = self.judged.labels.shape[1]
        hits = self.given & self.judged.hits
        counted = (self.judged.labels.indices, self.judged.columns[self.given], self.judged.columns[hits])
        return tuple(np.bincount(columns, minlength=width) for columns in counted)  # type: ignore[return-value]

    def measures(self) -> dict[str, float]:
        """In percent, and labels-per-row."""
        support, given, hits = self.by_label
        present = (support > 0) | (given > 0)
        label_f1 = f1(support, given, hits)
        row_hits = (self.given & self.judged.hits).sum(1)
        row_f1 = f1(self.judged.counts, self.given.sum(1), row_hits)
        row_f1[(self.judged.counts == 0) & (self.given.sum(1) == 0)] = 1
        return {
            "micro-F1": 100 * float(f1(support.sum(), given.sum(), hits.sum())),
            "macro-F1": 100 * float(label_f1[present].mean()) if present.any() else 0.0,
            "weighted-F1": 100 * float((label_f1 * support).sum() / max(1, support.sum())),
            "example-F1": 100 * float(row_f1.mean()),
            "precision": 100 * float(hits.sum() / max(1, given.sum())),
            "recall": 100 * float(hits.sum() / max(1, support.sum())),
            "rows_with_labels": 100 * float(self.given.any(1).mean()),
            "labels_per_row": float(self.given.sum(1).mean()),
        }

    def confused_with(self) -> np.ndarray:
        """For each label, the wrong label most often predicted for rows where it was missed; -1 if none."""
        width = self.judged.labels.shape[1]
        wrong = self.given & ~self.judged.hits
        false = _indicator(self.judged.columns, wrong, width)
        missed = self.judged.labels - _indicator(self.judged.columns, self.given & self.judged.hits, width)
        missed.eliminate_zeros()
        cooccurrence = sp.csr_matrix(missed.T @ false)
        best = np.full(width, -1, dtype=np.int64)
        for label in np.flatnonzero(np.diff(cooccurrence.indptr)):
            span = slice(cooccurrence.indptr[label], cooccurrence.indptr[label + 1])
            best[label] = cooccurrence.indices[span][np.argmax(cooccurrence.data[span])]
        return best


def f1(support: np.ndarray, given: np.ndarray, hits: np.ndarray) -> np.ndarray:
    """2 hits / (support + given); 0 where both are 0."""
    return np.asarray(2 * hits / np.maximum(1, np.asarray(support) + np.asarray(given)), dtype=np.float64)


def _indicator(columns: np.ndarray, chosen: np.ndarray, width: int) -> sp.csr_matrix:
    row, rank = np.nonzero(chosen)
    ones = np.ones(len(row), dtype=np.float32)
    return sp.csr_matrix((ones, (row, columns[row, rank])), shape=(len(columns), width))
