"""Chooses the ridge and the word embeddings of the closed-form start by their precision on held-out runs of rows.

Leave-one-out scores cannot choose them: the relatives of a left-out row are still there, and a weak ridge and word
embeddings make the most of them. On debtags, leave-one-out scores gain .39 by embeddings, and ridges of .3 and 1 are
level; held-out runs lose .22 by embeddings, and .59 by a ridge of .3.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from rankae.base.choices import AS_SET, Choices, choice
from rankae.data.near_duplicates import folds_to_compare, novel_rows, runs_of_rows, sample_to_compare
from rankae.data.word_embeddings import WordEmbeddings
from rankae.metrics import standard_error
from rankae.paper.closed_form import held_out_precision
from rankae.recipe import rules
from rankae.recipe.notes import Training
from rankae.recipe.settings import RecipeSettings


@dataclass(frozen=True)
class StartChoice:
    """Settings of the closed-form start; `choices` records those that the user left open."""

    ridge: float
    noise_rounds: int | None
    embeddings: WordEmbeddings | None
    choices: Choices = field(default_factory=dict)


def chosen_by_held_out_rows(
    rows: sp.csr_matrix,
    labels: sp.csr_matrix,
    settings: RecipeSettings,
    candidates: Sequence[WordEmbeddings | None],
    training: Training,
) -> StartChoice:
    """The ridge and word embeddings that rank held-out rows best; nothing is computed if nothing is left open."""
    ridges = rules.RIDGES if settings.ridge is None else (settings.ridge,)
    if len(ridges) == len(candidates) == 1:
        return StartChoice(ridges[0], settings.noise_rounds, *best_embeddings({candidates[0]: 0.0}))
    began = time.perf_counter()
    sample = sample_to_compare(rows.shape[0], settings.seed)
    rows, labels = rows[sample], labels[sample]
    folds = folds_to_compare(runs_of_rows(labels, sample), settings.seed)
    novel = np.isin(np.concatenate(folds), novel_rows(rows))

    def measured(tried: Sequence[float], candidate: WordEmbeddings | None) -> dict[float, np.ndarray]:
        """The precision of each held-out row without a near-duplicate, for each ridge."""
        found = held_out_precision(rows, labels, folds, tried, settings.seed, candidate)
        return {ridge: per_row[novel] for ridge, per_row in found.items()}

    precisions = measured(ridges, candidates[0])
    ridge = strongest_within_chance(precisions)
    precision = {candidates[0]: float(precisions[ridge].mean())}
    for candidate in candidates[1:]:
        precision[candidate] = float(measured((ridge,), candidate)[ridge].mean())
    embeddings, choices = best_embeddings(precision)
    if settings.ridge is None:
        merits = {tried: float(per_row.mean()) for tried, per_row in precisions.items()}
        reason = "strongest within chance of the best precision on held-out rows"
        choices["ridge"] = choice("ridge", ridge, reason, merits)
    training.timed("choice of ridge", began)
    return StartChoice(ridge, settings.noise_rounds, embeddings, choices)


def strongest_within_chance(precisions: dict[float, np.ndarray]) -> float:
    """The strongest ridge that is worse than the best by at most two standard errors.

    precisions : of each ridge, the precision of each row. Rows that resemble training rows favour a weak ridge, so
        where precision hardly differs, the strong one is the safer; and part of the rows favours a weaker one than all
        (docs/recipe.md: the closed-form start).
    """
    best = max(precisions, key=lambda ridge: precisions[ridge].mean())

    def is_close(ridge: float) -> bool:
        loss = precisions[best] - precisions[ridge]
        return ridge == best or float(loss.mean()) <= rules.CHANCE * standard_error(loss)

    return max(filter(is_close, precisions))


def best_embeddings(precision: dict[WordEmbeddings | None, float]) -> tuple[WordEmbeddings | None, Choices]:
    """The candidate of highest precision, and the record of the choice."""
    chosen = max(
        precision, key=lambda candidate: precision[candidate] - (0 if candidate is None else rules.GAIN_OF_EMBEDDINGS)
    )
    if len(precision) > 1:
        name = "none" if chosen is None else chosen.source
        figures = {"without" if one is None else f"with {one.source}": figure for one, figure in precision.items()}
        least = f"precision; {rules.GAIN_OF_EMBEDDINGS:g} more is the least that counts"
        return chosen, {"word_vectors": choice("word_vectors", name, least, figures)}
    return chosen, {} if chosen is None else {"word_vectors": choice("word_vectors", chosen.source, AS_SET)}
