"""The neighbours of the training rows and their leave-one-out votes."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Self

import numpy as np

from rankae.components.neighbours import Neighbours
from rankae.numerics.threads import even_blocks
from rankae.recipe.task import Task

_ROWS = 2**14  # whose votes are counted at a time


@dataclass(frozen=True)
class Votes:
    """The component, and each training row's nearest other rows with their cosines.

    Votes are counted when asked for: those of all rows at once would take much memory.
    """

    neighbours: Neighbours
    nearest: np.ndarray
    cosine: np.ndarray

    @classmethod
    def of(cls, task: Task) -> Self:
        began = time.perf_counter()
        neighbours = Neighbours.of(task.rows, task.labels, most_rows=task.settings.most_rows)
        nearest, cosine = neighbours.nearest(task.rows, leave_one_out=True)
        task.training.timed("neighbours", began)
        return cls(neighbours, nearest, cosine)

    def without(self, excluded: np.ndarray) -> Neighbours:
        """The component without the training rows `excluded` (bool)."""
        return self.neighbours.of_rows(~excluded)

    def proposed(self, k: int) -> np.ndarray:
        """The k labels with most votes for each row."""
        spans = even_blocks(len(self.nearest), _ROWS)
        return np.concatenate([self.neighbours.votes(self.nearest[s], self.cosine[s]).propose(k) for s in spans])

    def proposed_without(self, excluded: np.ndarray, k: int) -> np.ndarray:
        """Labels proposed for each row without the votes of the training rows `excluded` (bool)."""
        spans, without = even_blocks(len(self.nearest), _ROWS), self.neighbours.proposed_without
        return np.concatenate([without(self.nearest[s], self.cosine[s], excluded, k) for s in spans])
