"""All measures at once, as `rankae evaluate` prints them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from rankae.errors import DataError
from rankae.metrics.judged import judge
from rankae.metrics.per_label import label_results
from rankae.metrics.propensity import inverse_propensities, weigh


def evaluate(
    columns: np.ndarray,
    labels: sp.csr_matrix,
    k: Sequence[int] = (1, 3, 5),
    train_labels: sp.csr_matrix | None = None,
) -> dict[str, float | int]:
    """Measures in percent, and the number of rows.

    Parameters
    ----------
    columns : int, rows x k; predicted label columns, best first, -1 where nothing was predicted.
    labels : CSR, rows x labels; the truth.
    k : the places at which to measure.
    train_labels : CSR; label matrix of the training rows, from which propensities come. Without it there is no PSP.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> truth = sp.csr_matrix([[1, 0, 1], [0, 1, 0]])
    >>> evaluate(np.array([[0, 1], [2, 1]]), truth, k=[1, 2])["P@1"]
    50.0
    """
    if any(place < 1 for place in k):
        raise DataError(f"k must be at least 1, but {min(k)} was asked for")
    judged = judge(columns, labels)
    measures: dict[str, float | int] = {}
    measures |= {f"P@{i}": _percent(judged.precision(i).mean()) for i in k}
    measures |= {f"nDCG@{i}": _percent(judged.ndcg(i).mean()) for i in k}
    if train_labels is not None:
        inverse = inverse_propensities(sp.csr_matrix(train_labels), judged.labels.shape[1])
        weighed = weigh(judged, inverse, max(k))
        measures |= {f"PSP@{i}": _ratio(*weighed.psp(i)) for i in k}
        measures |= {f"PSnDCG@{i}": _ratio(*weighed.psndcg(i)) for i in k}
    measures |= {f"recall@{i}": _percent(judged.recall(i).mean()) for i in k}
    measures |= {f"coverage@{i}": _percent(label_results(judged, i).coverage) for i in k}
    counts = judged.counts
    return measures | {"rows": len(counts), "rows_without_labels": int(np.count_nonzero(counts == 0))}


def best_attainable(labels: sp.csr_matrix, k: Sequence[int] = (1, 3, 5)) -> dict[str, float]:
    """P@k-best, the P@k of a perfect ranking, in percent: rows with fewer than k labels keep it below 100.

    >>> import scipy.sparse as sp
    >>> best_attainable(sp.csr_matrix([[1, 0, 1], [0, 1, 0]]), k=[1, 2])
    {'P@1-best': 100.0, 'P@2-best': 75.0}
    """
    counts = np.diff(sp.csr_matrix(labels).indptr)
    return {f"P@{i}-best": _percent(np.minimum(counts, i).mean() / i) for i in k}


def precisions(columns: np.ndarray, labels: sp.csr_matrix) -> dict[str, float]:
    """P@1, P@3 and P@5 in percent, to two decimals; automatic choices maximise their sum."""
    judged = judge(columns, labels)
    return {f"P@{k}": round(_percent(judged.precision(k).mean()), 2) for k in (1, 3, 5)}


def row_merits(columns: np.ndarray, labels: sp.csr_matrix) -> np.ndarray:
    """The mean of P@1, P@3 and P@5 of each row, in percent, for paired comparisons."""
    judged = judge(columns, labels)
    return 100 * np.mean([judged.precision(k) for k in (1, 3, 5)], axis=0)


def standard_error(differences: np.ndarray) -> float:
    """Standard error of the mean of paired differences."""
    return float(differences.std() / np.sqrt(len(differences)))  # scipy.stats.sem is slow to import


def _percent(share: float | np.floating) -> float:
    return 100 * float(share)


def _ratio(gained: np.ndarray, best: np.ndarray) -> float:
    return 100 * float(gained.sum() / best.sum()) if best.any() else 0.0
