"""The stacker's training data: every component's scores of held-out rows, and of rows with labels that occur once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import scipy.sparse as sp

from rankae.base.held_out import MOST_PLACES, HeldOut, first_half
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
    """A shortlist, the stacker's input features of each entry, and the gain of ranking the entry high."""

    shortlist: Shortlist
    features: np.ndarray
    gains: np.ndarray

    @classmethod
    def of(
        cls, candidates: ScoredShortlist, true_labels: sp.csr_matrix, labels: sp.csr_matrix, settings: RecipeSettings
    ) -> Self:
        """Features and gains of scored candidates.

        Parameters
        ----------
        true_labels : labels of the scored rows.
        labels : labels of the training rows, for propensities.
        """
        gains = candidates.shortlist.values_of(true_labels)
        if settings.objective == "psp":
            gains = gains * inverse_propensities(labels)[candidates.shortlist.columns].astype(np.float32)
        return cls(candidates.shortlist, candidates.evidence(), gains)

    def __len__(self) -> int:
        return len(self.shortlist)

    def taken(self, rows: np.ndarray) -> StackerRows:
        entries = self.shortlist.entries_of(rows)
        return StackerRows(self.shortlist.taken(rows), self.features[entries], self.gains[entries])

    def of_labels(self, chosen: np.ndarray) -> StackerRows:
        """The entries of some labels, `chosen` (bool)."""
        return self.of_entries(chosen[self.shortlist.columns])

    def of_entries(self, kept: np.ndarray) -> StackerRows:
        """Some entries, `kept` (bool)."""
        starts = np.concatenate([[0], np.cumsum(kept, dtype=np.int64)])[self.shortlist.starts]
        return StackerRows(Shortlist(starts, self.shortlist.columns[kept]), self.features[kept], self.gains[kept])

    def followed_by(self, others: StackerRows | None) -> StackerRows:
        if others is None:
            return self
        return StackerRows(
            Shortlist.stacked([self.shortlist, others.shortlist]),
            np.concatenate([self.features, others.features]),
            np.concatenate([self.gains, others.gains]),
        )

    def threshold(self, stacker: Stacker, true_labels: sp.csr_matrix) -> float | None:
        """The score at which as many labels are predicted as the rows carry."""
        scores = np.sort(stacker.scores(self.features))
        return float(scores[-min(true_labels.nnz, len(scores))]) if true_labels.nnz and len(scores) else None


def rows_of_single_labels(task: Task, stack: Stack, validation_rows: int) -> StackerRows | None:
    """Training rows with half of their words hidden, and of their shortlists only the labels that occur once.

    A label that occurs once is never correct for a held-out row, so held-out rows alone would teach the stacker that
    such labels are always wrong. The row that carries the label, scored without half of its words, stands in for a new
    row like it. There are as many such rows as the share of these labels among all labels of the training rows asks
    for.
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
    learnable: np.ndarray,
    extra: StackerRows | None,
    settings: RecipeSettings,
    members: int | None = None,
) -> Stacker:
    """A stacker trained on the `learnable` rows (bool) and on the `extra` ones."""
    learnt = rows.taken(np.flatnonzero(learnable)).followed_by(extra)
    members = rules.STACKERS[settings.effort == "low"] if members is None else members
    options = {"members": members, "most_steps": rules.STACKER_STEPS[settings.effort == "low"], "seed": settings.seed}
    return Stacker.train(learnt.shortlist, learnt.features, learnt.gains, **options)


def held_out_predictions(
    rows: StackerRows,
    labels: sp.csr_matrix,
    learnable: np.ndarray,
    extra: StackerRows | None,
    settings: RecipeSettings,
    groups: np.ndarray | None = None,
) -> HeldOut:
    """Out-of-fold ranking of each row: each half of the rows is ranked by a stacker trained on the other half.

    groups : of alike rows, which are in the same half: a stacker that has learnt from a row's relatives ranks it better
        than a new row.
    """
    scores = np.empty(len(rows.gains), dtype=np.float32)
    members = rules.STACKERS_OF_HALVES[settings.effort == "low"]
    first = first_half(np.arange(len(rows)) if groups is None else groups)
    for learn, check in ((first, ~first), (~first, first)):
        stacker = train_stacker(rows, learn & learnable, extra, settings, members=members)
        entries = rows.shortlist.entries_of(np.flatnonzero(check))
        scores[entries] = stacker.scores(rows.features[entries])
    return HeldOut(*rows.shortlist.best(scores, min(MOST_PLACES, labels.shape[1])), labels, groups=groups)
