"""What the stacker learns from: every component's scores of rows that it has not seen, and of rows of single labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import scipy.sparse as sp

from rankae.base.held_out import MOST_PLACES, HeldOut
from rankae.components.stack import ScoredShortlist, Stack
from rankae.components.stacker import Stacker
from rankae.data.unit_length import unit_rows
from rankae.metrics import inverse_propensities
from rankae.numerics.shortlist import Shortlist
from rankae.recipe import rules
from rankae.recipe.settings import RecipeSettings
from rankae.recipe.task import Task


@dataclass(frozen=True)
class StackerRows:
    """A shortlist, what the stacker reads of each entry, and what it is worth to rank the entry high."""

    shortlist: Shortlist
    features: np.ndarray
    worth: np.ndarray

    @classmethod
    def of(
        cls, candidates: ScoredShortlist, right: sp.csr_matrix, labels: sp.csr_matrix, settings: RecipeSettings
    ) -> Self:
        """right : the labels of the rows; labels : those of the training rows, for propensities."""
        worth = candidates.shortlist.values_of(right)
        if settings.objective == "psp":
            worth = worth * inverse_propensities(labels)[candidates.shortlist.columns].astype(np.float32)
        return cls(candidates.shortlist, candidates.evidence(), worth)

    def __len__(self) -> int:
        return len(self.shortlist)

    def taken(self, rows: np.ndarray) -> StackerRows:
        entries = self.shortlist.entries_of(rows)
        return StackerRows(self.shortlist.taken(rows), self.features[entries], self.worth[entries])

    def of_labels(self, chosen: np.ndarray) -> StackerRows:
        """The entries of some labels, `chosen` (bool)."""
        return self.of_entries(chosen[self.shortlist.columns])

    def of_entries(self, kept: np.ndarray) -> StackerRows:
        """Some entries, `kept` (bool)."""
        starts = np.concatenate([[0], np.cumsum(kept, dtype=np.int64)])[self.shortlist.starts]
        return StackerRows(Shortlist(starts, self.shortlist.columns[kept]), self.features[kept], self.worth[kept])

    def followed_by(self, others: StackerRows | None) -> StackerRows:
        if others is None:
            return self
        return StackerRows(
            Shortlist.stacked([self.shortlist, others.shortlist]),
            np.concatenate([self.features, others.features]),
            np.concatenate([self.worth, others.worth]),
        )

    def threshold(self, stacker: Stacker, right: sp.csr_matrix) -> float | None:
        """The score from which as many labels are predicted as the rows carry."""
        scores = np.sort(stacker.scores(self.features))
        return float(scores[-min(right.nnz, len(scores))]) if right.nnz and len(scores) else None


def rows_of_single_labels(task: Task, stack: Stack, validation_rows: int) -> StackerRows | None:
    """Training rows with half of their words hidden, and of the shortlists only the labels that stand on one row.

    A label of one row cannot be right for a row that is held out, so held-out rows alone teach that rare labels never
    are. What they are worth for a row like the one that carries them, that row itself tells, as far as it can be made
    another. It is asked about as often as such labels occur among all labels of the training rows.
    """
    labels = task.labels
    counts = np.bincount(labels.indices, minlength=labels.shape[1])
    single = counts == 1
    wanted = min(rules.MOST_SINGLE, round(validation_rows * single.sum() / max(1, labels.nnz)))
    carrying = np.flatnonzero(labels @ single.astype(np.float32))
    rng = np.random.default_rng(task.settings.seed)
    picked = np.sort(rng.permutation(carrying)[:wanted])
    if len(picked) == 0:
        return None
    rows = task.rows[picked]
    rows.data[rng.random(len(rows.data)) < rules.HIDDEN_WORDS] = 0
    rows.eliminate_zeros()
    candidates = stack.candidates(unit_rows(rows))
    return StackerRows.of(candidates, labels[picked], labels, task.settings).of_labels(single)


def train_stacker(
    rows: StackerRows,
    teaches: np.ndarray,
    extra: StackerRows | None,
    settings: RecipeSettings,
    members: int | None = None,
) -> Stacker:
    """Learn from the rows that teach (bool), and from some more."""
    learnt = rows.taken(np.flatnonzero(teaches)).followed_by(extra)
    members = rules.STACKERS[settings.effort == "low"] if members is None else members
    return Stacker.train(learnt.shortlist, learnt.features, learnt.worth, members=members, seed=settings.seed)


def held_out_predictions(
    rows: StackerRows, labels: sp.csr_matrix, teaches: np.ndarray, extra: StackerRows | None, settings: RecipeSettings
) -> HeldOut:
    """The ranking of each row by what has not learnt from it: each half by the stacker of the other half."""
    scores = np.empty(len(rows.worth), dtype=np.float32)
    first = np.arange(len(rows)) % 2 == 0
    for learn, check in ((first, ~first), (~first, first)):
        stacker = train_stacker(rows, learn & teaches, extra, settings, members=rules.STACKERS[1])
        entries = rows.shortlist.entries_of(np.flatnonzero(check))
        scores[entries] = stacker.scores(rows.features[entries])
    return HeldOut(*rows.shortlist.best(scores, min(MOST_PLACES, labels.shape[1])), labels)
