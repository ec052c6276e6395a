"""The default recipe: train the parts, let held-out rows say which of them help, train those again on everything.

Every automatic choice is recorded as one line in `Training.choices`, and every one can be set by hand.
"""

from __future__ import annotations

from pathlib import Path

import scipy.sparse as sp

from rankae.recipe.choice import make_choice, note_choice, noted_choice
from rankae.recipe.fitting import fit_parts
from rankae.recipe.notes import Training
from rankae.recipe.settings import RecipeSettings
from rankae.refine.model import Parts

__all__ = ["RecipeSettings", "Training", "train_recipe"]


def train_recipe(
    rows: sp.csr_matrix,
    labels: sp.csr_matrix,
    settings: RecipeSettings,
    training: Training,
    checkpoint_dir: str | Path | None = None,
    resume: bool = False,
) -> Parts:
    """Train the default model.

    The choice of parts takes the longest; it is noted in `checkpoint_dir`, so that `resume` need not make it again.
    """
    data = [*rows.shape, *labels.shape, rows.nnz, labels.nnz]
    chosen = noted_choice(checkpoint_dir, settings, data, training) if resume and checkpoint_dir is not None else None
    if chosen is None:
        chosen = make_choice(rows, labels, settings, training)
        if checkpoint_dir is not None:
            note_choice(checkpoint_dir, chosen, settings, data, training)
    parts = fit_parts(rows, labels, chosen.settings, training)
    parts.combiner = chosen.combiner
    return parts
