"""Measures as scikit-learn's scorers, for `cross_val_score` and `GridSearchCV`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from rankae.errors import RankaeError

_MEASURE = re.compile(r"(P|nDCG|PSP|PSnDCG|recall|coverage)@([1-9]\d{0,2})")


@dataclass(frozen=True)
class Scorer:
    """Called with a fitted model, rows and labels, it gives the measure, in percent."""

    measure: str

    def __call__(self, estimator: Any, X: Any, y: Any) -> float:
        place = int(self.measure.partition("@")[2])
        return float(estimator.evaluate(X, y, k=[place])[self.measure])


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
