"""The input of every step of the recipe."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from rankae.components.label_names import LabelNames
from rankae.components.registry import PlainComponent
from rankae.data.word_embeddings import WordEmbeddings
from rankae.recipe.notes import Training
from rankae.recipe.settings import Resolved
from rankae.recipe.steps import State, Steps


@dataclass(frozen=True)
class Task:
    """Training rows and labels, settings, the record of the run, and its checkpoints.

    least_rows : of each feature, how many rows the vocabulary demands (see `NewRows`); None if nobody knows.
    """

    rows: sp.csr_matrix
    labels: sp.csr_matrix
    settings: Resolved
    training: Training
    steps: Steps
    embeddings: WordEmbeddings | None = None
    names: LabelNames | None = None
    least_rows: np.ndarray | None = None

    @cached_property
    def unseen_labels(self) -> np.ndarray:
        """bool [L]: labels that no training row carries, but that can be predicted by their names."""
        if self.names is None:
            return np.zeros(self.labels.shape[1], dtype=bool)
        return (np.bincount(self.labels.indices, minlength=self.labels.shape[1]) == 0) & self.names.has_words

    def without(self, places: np.ndarray) -> Task:
        """The task without these rows."""
        rest = np.setdiff1d(np.arange(self.rows.shape[0]), places)
        return replace(self, rows=self.rows[rest], labels=self.labels[rest])

    def fit_plain(self, step: str, kind: type[PlainComponent]) -> Any:
        """A component from the registry that needs only rows and labels; `step` names its checkpoint."""

        def fit() -> State:
            return kind.trained(self.rows, self.labels, self.settings.seed).state()

        return kind.from_state(*self.steps.take(step, fit))
