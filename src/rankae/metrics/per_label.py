"""Results by label, and by the frequency of labels in training."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from rankae.metrics.judged import Judged, judge

# A label of at most 10 training rows is tail, of more than 100 head, between them torso.
TAIL_AT_MOST, TORSO_AT_MOST = 10, 100


@dataclass(frozen=True)
class LabelResults:
    """Counts for each label column, over the first k predictions of all rows.

    support : rows that carry the label.
    predicted : rows for which it was predicted.
    hits : rows for which it was predicted and true.
    """

    support: np.ndarray
    predicted: np.ndarray
    hits: np.ndarray

    @property
    def precision(self) -> np.ndarray:
        """Share of the label's predictions that are right; NaN where it was never predicted."""
        return _share(self.hits, self.predicted)

    @property
    def recall(self) -> np.ndarray:
        """Share of the label's rows that were found; NaN where no row carries it."""
        return _share(self.hits, self.support)

    @property
    def coverage(self) -> float:
        """Share of the labels that some row carries which were predicted right at least once; 0 if there are none."""
        return int(np.count_nonzero(self.hits)) / max(1, int(np.count_nonzero(self.support)))

    def take(self, chosen: np.ndarray) -> LabelResults:
        """The results of some of the labels."""
        return LabelResults(self.support[chosen], self.predicted[chosen], self.hits[chosen])


def per_label(columns: np.ndarray, labels: sp.csr_matrix, k: int) -> LabelResults:
    """Count support, predictions and hits of every label among the first k predictions."""
    return label_results(judge(columns, labels), k)


def coverage(columns: np.ndarray, labels: sp.csr_matrix, k: int) -> float:
    """Share of the labels that occur in `labels` which were predicted right at least once among the first k."""
    return per_label(columns, labels, k).coverage


def label_results(judged: Judged, k: int) -> LabelResults:
    """As `per_label`, from judged predictions."""
    columns, hits = judged.columns[:, :k], judged.hits[:, :k]
    n_labels = judged.labels.shape[1]
    return LabelResults(
        support=np.bincount(judged.labels.indices, minlength=n_labels),
        predicted=np.bincount(columns[columns >= 0], minlength=n_labels),
        hits=np.bincount(columns[hits], minlength=n_labels),
    )


def by_frequency(
    results: LabelResults, train_labels: sp.csr_matrix, tail: int = TAIL_AT_MOST, torso: int = TORSO_AT_MOST
) -> dict[str, dict[str, float | int]]:
    """Results of head, torso and tail labels (by their number of training rows), in percent.

    Columns of `results` beyond those of `train_labels` never occurred in training, so they are tail labels.
    """
    seen = np.bincount(train_labels.indices[train_labels.data != 0], minlength=len(results.support))
    groups = {"head": seen > torso, "torso": (seen > tail) & (seen <= torso), "tail": seen <= tail}
    return {name: _summary(results.take(chosen)) for name, chosen in groups.items()}


def _summary(group: LabelResults) -> dict[str, float | int]:
    support, predicted, hits = (int(counts.sum()) for counts in (group.support, group.predicted, group.hits))
    return {
        "labels": len(group.support),
        "support": support,
        "precision": 100 * hits / max(1, predicted),
        "recall": 100 * hits / max(1, support),
        "coverage": 100 * group.coverage,
    }


def _share(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return np.divide(part, whole, out=np.full(len(part), np.nan), where=whole > 0)
