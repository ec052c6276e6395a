"""The default recipe: train the components, then a stacker on their scores of held-out rows.

Every automatic choice is recorded in `Training.choices`, and every one can be set by hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from rankae.components.label_names import LabelNames
from rankae.components.stack import Stack
from rankae.data.word_embeddings import WordEmbeddings
from rankae.recipe.fitting import fit_stack
from rankae.recipe.notes import Training
from rankae.recipe.settings import RecipeSettings, resolved
from rankae.recipe.start_choice import chosen_by_held_out_rows
from rankae.recipe.steps import Steps
from rankae.recipe.task import Task
from rankae.recipe.trusted import Trusted, chosen_by_trusted

__all__ = ["RecipeSettings", "Training", "Trusted", "train_recipe"]


def train_recipe(
    rows: sp.csr_matrix,
    labels: sp.csr_matrix,
    settings: RecipeSettings,
    training: Training,
    checkpoint_dir: str | Path | None = None,
    resume: bool = False,
    trusted: Trusted | None = None,
    embeddings: Sequence[WordEmbeddings | None] = (None,),
    names: sp.csr_matrix | None = None,
    least_rows: np.ndarray | None = None,
) -> Stack:
    """Train the default model; with `resume`, components that `checkpoint_dir` holds are not trained again.

    Parameters
    ----------
    trusted : rows with clean labels; they take the place of the held-out rows.
    embeddings : candidates for the word embeddings; the start and the network use the one that ranks best.
    names : labels x features, the weighted words of each label's name.
    least_rows : of each feature, how many rows the vocabulary demands.
    """
    validation = [] if trusted is None else [trusted.rows.nnz, trusted.labels.nnz]
    embedding_sizes = [int(np.count_nonzero(candidate.vectors)) for candidate in embeddings if candidate is not None]
    shape = [*rows.shape, *labels.shape, rows.nnz, labels.nnz, *validation, *embedding_sizes]
    run = {"settings": asdict(settings), "data": shape}
    steps = Steps(checkpoint_dir, run, training.choices, resume)
    if trusted is None:
        start = chosen_by_held_out_rows(rows, labels, settings, embeddings, training)
    else:
        start = chosen_by_trusted(rows, labels, settings, trusted, embeddings, training)
    settings = resolved(replace(settings, noise_rounds=start.noise_rounds), rows, labels, start.ridge, training)
    training.choices |= start.choices
    of_labels = None if names is None else LabelNames(names)
    task = Task(rows, labels, settings, training, steps, start.embeddings, of_labels, least_rows)
    return fit_stack(task, trusted)
