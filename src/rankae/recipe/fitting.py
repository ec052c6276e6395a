"""Training every part on the same rows, in the order in which they need each other."""

from __future__ import annotations

import time

import numpy as np
import scipy.sparse as sp

from rankae.recipe.notes import Training
from rankae.recipe.settings import MANY_LABELS, RecipeSettings
from rankae.refine.code import CodePart
from rankae.refine.model import Parts
from rankae.refine.neighbours import Neighbours
from rankae.refine.rankers import Rankers
from rankae.refine.shortlist import Shortlist
from rankae.refine.words_network import NetworkPart, WordsNetworkSettings
from rankae.training.warm_start import warm_start


def fit_parts(rows: sp.csr_matrix, labels: sp.csr_matrix, settings: RecipeSettings, training: Training) -> Parts:
    """Train every part that the settings name on all of `rows`."""
    assert settings.code_size is not None
    assert settings.ridge is not None
    began = time.perf_counter()
    start = warm_start(rows, labels, settings.code_size, settings.ridge, settings.seed)
    code = CodePart.untouched(start)
    training.timed("warm start", began)
    counts = np.bincount(labels.indices, minlength=labels.shape[1]).astype(np.float32)
    parts = Parts(code, counts, settings.proposed)
    voted = None
    if settings.neighbours:
        began = time.perf_counter()
        parts.neighbours = Neighbours(rows, labels)
        voted = parts.neighbours.read(rows, honest=True).propose(settings.proposed)
        training.timed("neighbours", began)
    if settings.tuning and (voted is not None or labels.shape[1] <= MANY_LABELS):
        began = time.perf_counter()
        many = labels.shape[1] > MANY_LABELS
        parts.code = code.tuned(
            start.honest_codes, labels, rivals=voted if many else None, epochs=5 if many else 10, seed=settings.seed
        )
        training.timed("tuning", began)
    if settings.network:
        began = time.perf_counter()
        parts.network = NetworkPart.train(
            rows, labels, _network_settings(settings, rows), settings.network, settings.seed, training.note
        )
        training.timed("network", began)
    if settings.rankers:
        began = time.perf_counter()
        honest = parts.code.read_codes(start.honest_codes).propose(settings.proposed)
        shortlist = Shortlist.union([honest] if voted is None else [honest, voted])
        parts.rankers = Rankers.train(rows, labels, shortlist, cost=settings.ranker_cost, seed=settings.seed)
        training.timed("rankers", began)
    return parts


def _network_settings(settings: RecipeSettings, rows: sp.csr_matrix) -> WordsNetworkSettings:
    assert settings.word_size is not None
    assert settings.epochs is not None
    # A long row says the same thing often, so more of it can be hidden from a step.
    long = rows.nnz > 25 * rows.shape[0]
    return WordsNetworkSettings(
        word_size=settings.word_size,
        attention=settings.attention,
        loss=settings.loss,
        epochs=settings.epochs,
        word_dropout=0.5 if long else 0.3,
        batch=256 if rows.shape[0] >= 4000 else max(16, rows.shape[0] // 16),  # small data needs its steps
        device=settings.device,
    )
