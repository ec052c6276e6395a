"""What every step of the recipe is given."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from rankae.components.label_names import LabelNames
from rankae.data.word_embeddings import WordEmbeddings
from rankae.recipe.notes import Training
from rankae.recipe.settings import Resolved
from rankae.recipe.steps import Steps


@dataclass(frozen=True)
class Task:
    """Rows to learn from and their labels, how to learn, and where to note what was found and what is finished."""

    rows: sp.csr_matrix
    labels: sp.csr_matrix
    settings: Resolved
    training: Training
    steps: Steps
    embeddings: WordEmbeddings | None = None
    names: LabelNames | None = None

    @cached_property
    def unseen_labels(self) -> np.ndarray:
        """bool [L]: labels that no training row carries, but that have a name by which they can be predicted."""
        if self.names is None:
            return np.zeros(self.labels.shape[1], dtype=bool)
        return (np.bincount(self.labels.indices, minlength=self.labels.shape[1]) == 0) & self.names.has_words

    def without(self, places: np.ndarray) -> Task:
        """The same on all rows but these."""
        rest = np.setdiff1d(np.arange(self.rows.shape[0]), places)
        return replace(self, rows=self.rows[rest], labels=self.labels[rest])
