"""The neighbours of the training rows and their leave-one-out votes."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Self

import numpy as np

from rankae.components.neighbours import Neighbours, VotePredictions
from rankae.recipe.task import Task


@dataclass(frozen=True)
class Votes:
    """The component, each training row's nearest other rows with their cosines, and the votes of these."""

    neighbours: Neighbours
    nearest: np.ndarray
    cosine: np.ndarray
    predictions: VotePredictions

    @classmethod
    def of(cls, task: Task) -> Self:
        began = time.perf_counter()
        neighbours = Neighbours.of(task.rows, task.labels, most_rows=task.settings.most_rows)
        nearest, cosine = neighbours.nearest(task.rows, leave_one_out=True)
        predictions = neighbours.votes(nearest, cosine)
        task.training.timed("neighbours", began)
        return cls(neighbours, nearest, cosine, predictions)

    def without(self, excluded: np.ndarray) -> Neighbours:
        """The component without the training rows `excluded` (bool)."""
        return self.neighbours.of_rows(~excluded)

    def proposed_without(self, excluded: np.ndarray, k: int) -> np.ndarray:
        """Labels proposed for each row without the votes of the training rows `excluded` (bool)."""
        return self.neighbours.proposed_without(self.nearest, self.cosine, excluded, k)
