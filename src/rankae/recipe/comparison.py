"""Compares candidate features by the precision of the closed-form start on them, row by row."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from rankae.data.near_duplicates import novel_rows
from rankae.data.text import TextFeatures
from rankae.data.unit_length import unit_rows
from rankae.data.word_embeddings import WordEmbeddings
from rankae.metrics import standard_error
from rankae.paper.closed_form import leave_one_out_precision
from rankae.recipe.trusted import Trusted, trusted_precision

CandidateEmbeddings = Callable[[Sequence[str], sp.csr_matrix], Sequence[WordEmbeddings | None]]


class Comparison:
    """Measures every candidate on the same validation rows: those without a near-duplicate by the first candidate's
    features."""

    def __init__(
        self,
        labels: sp.csr_matrix,
        seed: int,
        trusted: tuple[Sequence[str], sp.csr_matrix] | None,
        embeddings: CandidateEmbeddings,
    ) -> None:
        self.labels, self.seed, self.trusted, self.embeddings = labels, seed, trusted, embeddings
        self._validation: np.ndarray | None = None

    def precision(self, text: TextFeatures, rows: sp.csr_matrix) -> np.ndarray:
        """Precision of each validation row when the closed-form start is fitted on these features.

        Rows are scaled to length 1, as in training. Otherwise columns beside the words would weaken the ridge.
        """
        rows = unit_rows(rows)
        if self.trusted is None:
            if self._validation is None:
                self._validation = novel_rows(rows)
            return leave_one_out_precision(rows, self.labels, self._validation, seed=self.seed)[1.0]
        validation = Trusted(unit_rows(text.transform(self.trusted[0])), self.trusted[1])
        if self._validation is None:
            self._validation = validation.novel(rows)
        validation = validation.taken(self._validation)
        candidates = self.embeddings(text.spelled(), rows)
        options = rows, self.labels, validation
        return max((trusted_precision(*options, seed=self.seed, embeddings=one) for one in candidates), key=np.mean)


class FeatureTrial(NamedTuple):
    text: TextFeatures
    rows: sp.csr_matrix
    settings: Mapping[str, Any]
    precision: np.ndarray

    def chance(self, other: FeatureTrial) -> float:
        """Standard error of the difference in precision, paired by row."""
        return standard_error(other.precision - self.precision)


def clearly_best(trials: Sequence[FeatureTrial], least: float = 0.0) -> FeatureTrial:
    """The first trial, unless a later one gains more than `least` and more than a standard error."""
    best = trials[0]
    for trial in trials[1:]:
        if trial.precision.mean() - best.precision.mean() > max(least, best.chance(trial)):
            best = trial
    return best
