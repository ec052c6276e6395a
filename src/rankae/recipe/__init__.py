"""The default recipe: train the parts, let held-out rows say which of them help and how far each is to be believed.

Every automatic choice is recorded as one line in `Training.choices`, and every one can be set by hand.
"""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from rankae.recipe.evidence import parts_that_help, train_combiner
from rankae.recipe.fitting import fit_parts, whole_network
from rankae.recipe.notes import Training
from rankae.recipe.settings import RecipeSettings, resolved
from rankae.recipe.steps import Steps
from rankae.recipe.trusted import Trusted, chosen_by_trusted, fit_parts_once
from rankae.refine.model import Parts

__all__ = ["RecipeSettings", "Training", "Trusted", "train_recipe"]


def train_recipe(
    rows: sp.csr_matrix,
    labels: sp.csr_matrix,
    settings: RecipeSettings,
    training: Training,
    checkpoint_dir: str | Path | None = None,
    resume: bool = False,
    trusted: Trusted | None = None,
    directions: np.ndarray | None = None,
) -> Parts:
    """Train the default model; with `resume`, parts that `checkpoint_dir` holds are not trained again.

    Trusted rows, if there are any, take the place of the held-out rows. The networks' word vectors start from the
    directions of words, words x dimensions, if there are any.
    """
    witnesses = [] if trusted is None else [trusted.rows.nnz, trusted.labels.nnz]
    known = 0 if directions is None else int(np.count_nonzero(directions))
    shape = [*rows.shape, *labels.shape, rows.nnz, labels.nnz, *witnesses, known]
    about = {"settings": asdict(settings), "data": shape}
    steps = Steps(checkpoint_dir, about, training.choices, resume)
    if trusted is None:
        settings = resolved(settings, rows, labels, training)
        fitted = fit_parts(rows, labels, settings, training, steps, directions)
        right = labels[fitted.held]
    else:
        settings = chosen_by_trusted(rows, labels, settings, trusted, training)
        fitted = fit_parts_once(rows, labels, settings, trusted, training, steps, directions)
        right = trusted.labels[fitted.held]
    parts, opinions = fitted.parts, fitted.opinions
    if opinions is None:
        training.choices["parts"] = "code"
        return parts
    began = time.perf_counter()
    counts = parts.label_counts
    kept, combined = list(opinions.said), True
    if settings.choose:
        kept, combined = parts_that_help(opinions, right, counts, settings, training)
    training.choices["parts"] = ", ".join(kept)
    parts = parts.only(kept)
    if combined:
        parts.combiner = train_combiner(opinions.of(kept, len(counts)), right, counts, labels, settings, training)
    training.timed("combiner", began)
    if parts.network is not None:
        parts.network = whole_network(parts.network, rows, labels, settings, training, steps, directions)
    return parts
