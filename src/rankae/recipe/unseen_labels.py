"""Training data that teaches the stacker about labels without training rows, which can be predicted by name only.

Validation rows cannot teach it: none of them carries such a label. Instead, some other labels are treated as unseen:
the scores of every component except the names are replaced by those of a label that it has never seen, so that the
stacker learns how often a name alone is correct.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from rankae.components.stack import ScoredShortlist, Stack
from rankae.numerics.shortlist import Shortlist
from rankae.recipe.evidence import StackerRows
from rankae.recipe.task import Task

_MASKED_LABELS = 0.2  # share of the labels that are treated as unseen
_SAMPLE = 200  # rows, and unseen labels, from which the components' scores of unseen labels are estimated


def rows_of_unseen_labels(
    task: Task, stack: Stack, candidates: ScoredShortlist, true_labels: sp.csr_matrix
) -> StackerRows | None:
    """Entries of the validation rows whose labels are treated as unseen; None if all labels have training rows.

    Parameters
    ----------
    candidates : out-of-fold scores of the validation rows.
    true_labels : labels of the validation rows.
    """
    if task.names is None or not task.unseen_labels.any():
        return None
    rng = np.random.default_rng(task.settings.seed)
    columns = candidates.shortlist.columns
    masked_entries = (rng.random(task.labels.shape[1]) < _MASKED_LABELS)[columns] & (
        candidates.scores[task.names.name] > 0
    )
    unseen_scores = _scores_of_unseen(task, stack, np.flatnonzero(task.unseen_labels), rng)
    scores = {
        name: np.where(masked_entries, np.float32(unseen_scores.get(name, 0)), values)
        for name, values in candidates.scores.items()
    }
    scores[task.names.name] = candidates.scores[task.names.name]
    counts, closest = (
        np.where(masked_entries, np.float32(0), values) for values in (candidates.counts, candidates.closest)
    )
    masked = replace(candidates, scores=scores, counts=counts, closest=closest)
    return StackerRows.of(masked, true_labels, task.labels, task.settings).of_entries(masked_entries)


def _scores_of_unseen(task: Task, stack: Stack, unseen: np.ndarray, rng: np.random.Generator) -> dict[str, float]:
    """Each component's median score of labels without training rows."""
    rows = task.rows[np.sort(rng.permutation(task.rows.shape[0])[:_SAMPLE])]
    picked = np.sort(rng.permutation(unseen)[:_SAMPLE]).astype(np.int32)
    every = Shortlist(np.arange(rows.shape[0] + 1) * len(picked), np.tile(picked, rows.shape[0]))
    return {name: float(np.median(scores)) for name, scores in stack.scores_by_component(rows, every).items()}
