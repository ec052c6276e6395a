"""Measures of a ranking, all from the top k columns of each row and the CSR matrix of true labels.

One set of rules, the one the published tables (and napkinXC) follow:

- `columns` is int, rows x k, best label first, -1 where nothing was predicted. Measures do not use scores: the order of
  `columns` is the ranking, and ties are broken already.
- P@k divides by k, also where a row has fewer than k labels, or fewer than k were predicted.
- nDCG@k and PSnDCG@k divide by what min(k, labels of the row) hits in the first places would give.
- A row without labels scores 0 in every measure, and counts as a row.
- PSP@k and PSnDCG@k are the sum over rows divided by the best sum attainable with the same rows.
- A label that is predicted twice in one row, or is no column of the label matrix, is an error.
"""

from __future__ import annotations

from rankae.metrics.calibration import Reliability, evaluate_probabilities, reliability
from rankae.metrics.f1 import Selection
from rankae.metrics.judged import Judged, judge, ndcg_rows, precision_rows, recall_rows
from rankae.metrics.per_label import LabelResults, by_frequency, coverage, per_label
from rankae.metrics.propensity import Weighed, inverse_propensities, weigh
from rankae.metrics.scorer import Scorer, scorer
from rankae.metrics.summary import best_attainable, evaluate, precisions, row_merits, standard_error

__all__ = [
    "Judged",
    "LabelResults",
    "Reliability",
    "Selection",
    "Scorer",
    "Weighed",
    "best_attainable",
    "by_frequency",
    "coverage",
    "evaluate",
    "evaluate_probabilities",
    "inverse_propensities",
    "judge",
    "ndcg_rows",
    "per_label",
    "precision_rows",
    "precisions",
    "recall_rows",
    "reliability",
    "row_merits",
    "scorer",
    "standard_error",
    "weigh",
]
