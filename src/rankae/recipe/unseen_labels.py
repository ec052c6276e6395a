"""What the stacker learns of labels that no training row carries: of those, only the name speaks.

That no row carries such a label is no evidence against it, for nobody could give it. So validation rows teach nothing
of these labels themselves. Instead some other labels are taken for unseen: every component but the names scores them as
it scores a label that it has never met, and the stacker learns how often a name alone is right.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from rankae.components.stack import ScoredShortlist, Stack
from rankae.numerics.shortlist import Shortlist
from rankae.recipe.evidence import StackerRows
from rankae.recipe.task import Task

_TAKEN_FOR_UNSEEN = 0.2  # of the labels
_LOOKED_AT = 200  # rows, and unseen labels, that tell how components score what they have never met


def rows_of_unseen_labels(
    task: Task, stack: Stack, candidates: ScoredShortlist, right: sp.csr_matrix
) -> StackerRows | None:
    """The validation rows again, with some of the labels that their names propose taken for unseen.

    candidates, right : of the validation rows, what components score that have not seen them, and their labels.
    """
    if task.names is None or not task.unseen_labels.any():
        return None
    rng = np.random.default_rng(task.settings.seed)
    columns = candidates.shortlist.columns
    taken = (rng.random(task.labels.shape[1]) < _TAKEN_FOR_UNSEEN)[columns] & (candidates.scores[task.names.name] > 0)
    usual = _scores_of_unseen(task, stack, np.flatnonzero(task.unseen_labels), rng)
    scores = {name: np.where(taken, np.float32(usual.get(name, 0)), own) for name, own in candidates.scores.items()}
    scores[task.names.name] = candidates.scores[task.names.name]
    counted, closest = (np.where(taken, np.float32(0), own) for own in (candidates.counts, candidates.closest))
    masked = replace(candidates, scores=scores, counts=counted, closest=closest)
    return StackerRows.of(masked, right, task.labels, task.settings).of_entries(taken)


def _scores_of_unseen(task: Task, stack: Stack, unseen: np.ndarray, rng: np.random.Generator) -> dict[str, float]:
    """Each component's usual score of a label that it has never met."""
    rows = task.rows[np.sort(rng.permutation(task.rows.shape[0])[:_LOOKED_AT])]
    picked = np.sort(rng.permutation(unseen)[:_LOOKED_AT]).astype(np.int32)
    every = Shortlist(np.arange(rows.shape[0] + 1) * len(picked), np.tile(picked, rows.shape[0]))
    return {name: float(np.median(scores)) for name, scores in stack.scores_by_component(rows, every).items()}
