"""The ridge of the closed-form start, and its word embeddings: those that rank best by leave-one-out scores."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import scipy.sparse as sp

from rankae.data.near_duplicates import novel_rows, sample_to_compare
from rankae.data.word_embeddings import WordEmbeddings
from rankae.paper.closed_form import leave_one_out_precision
from rankae.recipe.notes import Training
from rankae.recipe.settings import RecipeSettings

RIDGES = (0.3, 1.0, 2.0, 4.0)
# Points of precision that embeddings must be worth. They take time, and on debtags half a point by leave-one-out scores
# was worth nothing to the whole model, which has neighbours as well.
_GAIN = 0.6


@dataclass(frozen=True)
class StartChoice:
    """What the closed-form start is made with; `lines` has a line for each choice that was not the user's."""

    ridge: float
    noise_rounds: int | None
    embeddings: WordEmbeddings | None
    lines: dict[str, str] = field(default_factory=dict)


def chosen_by_leave_one_out(
    rows: sp.csr_matrix,
    labels: sp.csr_matrix,
    settings: RecipeSettings,
    candidates: Sequence[WordEmbeddings | None],
    training: Training,
) -> StartChoice:
    """The ridge, and which word embeddings to take; where nothing is open, at no cost."""
    ridges = RIDGES if settings.ridge is None else (settings.ridge,)
    if len(ridges) == len(candidates) == 1:
        return StartChoice(ridges[0], settings.noise_rounds, *best_embeddings({candidates[0]: 0.0}))
    began = time.perf_counter()
    sample = sample_to_compare(rows.shape[0], settings.seed)
    rows, labels = rows[sample], labels[sample]
    validation = novel_rows(rows)
    found = leave_one_out_precision(rows, labels, validation, ridges, settings.seed, candidates[0])
    ridge = max(found, key=lambda tried: found[tried].mean())
    precision = {candidates[0]: float(found[ridge].mean())}
    for candidate in candidates[1:]:
        own = leave_one_out_precision(rows, labels, validation, (ridge,), settings.seed, candidate)[ridge]
        precision[candidate] = float(own.mean())
    embeddings, lines = best_embeddings(precision)
    if settings.ridge is None:
        lines["ridge"] = f"{ridge:g} (best leave-one-out precision)"
    training.timed("choice of ridge", began)
    return StartChoice(ridge, settings.noise_rounds, embeddings, lines)


def best_embeddings(precision: dict[WordEmbeddings | None, float]) -> tuple[WordEmbeddings | None, dict[str, str]]:
    """The candidate of highest precision, and the line that says so; a single one is taken as it is."""
    chosen = max(precision, key=lambda candidate: precision[candidate] - (0 if candidate is None else _GAIN))
    if len(precision) > 1:
        tried = ", ".join(f"{precision[c]:.1f} with{'out' if c is None else ''}" for c in precision)
        name = "none" if chosen is None else chosen.source
        return chosen, {"word_vectors": f"{name} (precision {tried}; {_GAIN:g} more is the least that counts)"}
    return chosen, {} if chosen is None else {"word_vectors": f"{chosen.source} (as set)"}
