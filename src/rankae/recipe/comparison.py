"""Candidate features held against each other: how well the closed-form start ranks by them, row by row."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from rankae.data.near_duplicates import novel_rows
from rankae.data.text import TextFeatures
from rankae.data.word_embeddings import WordEmbeddings
from rankae.metrics import standard_error
from rankae.paper.closed_form import leave_one_out_precision
from rankae.recipe.trusted import Trusted, trusted_precision

CandidateEmbeddings = Callable[[Sequence[str], sp.csr_matrix], Sequence[WordEmbeddings | None]]


class Comparison:
    """Candidates held against each other on the same rows: those without a near-duplicate by the first."""

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
        """Of each row of the validation set, by the closed-form start on these features."""
        if self.trusted is None:
            if self._validation is None:
                self._validation = novel_rows(rows)
            return leave_one_out_precision(rows, self.labels, self._validation, seed=self.seed)[1.0]
        validation = Trusted(text.transform(self.trusted[0]), self.trusted[1])
        if self._validation is None:
            self._validation = validation.novel(rows)
        validation = validation.taken(self._validation)
        known = self.embeddings(text.spelled(), rows)
        found = [trusted_precision(rows, self.labels, validation, seed=self.seed, embeddings=own) for own in known]
        return max(found, key=np.mean)


class Tried(NamedTuple):
    text: TextFeatures
    rows: sp.csr_matrix
    settings: Mapping[str, Any]
    precision: np.ndarray

    def chance(self, other: Tried) -> float:
        """Points of precision by which the other may well be ahead by chance."""
        return standard_error(other.precision - self.precision)  # of the same rows


def clearly_best(found: Sequence[Tried], least: float = 0.0) -> Tried:
    """The first, unless a later one gains more than chance explains and than `least`: features cost memory, time."""
    chosen = found[0]
    for other in found[1:]:
        if other.precision.mean() - chosen.precision.mean() > max(least, chosen.chance(other)):
            chosen = other
    return chosen
