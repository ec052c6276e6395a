"""Rows whose labels can be trusted make the choices, where those of the training rows are missing or wrong.

The parts learn from the training rows alone. The trusted rows, which the parts have not seen, take the place of the
held-out rows: they choose lambda and the rounds of label correction, the epoch of tuning, the cost of the rankers and
which parts to keep, and the combiner is trained on them. So every part is trained once, not once more for each fold.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from rankae.errors import DataError
from rankae.metrics import evaluate
from rankae.network.kernels.sparse_product import sparse_product
from rankae.network.top_k import top_k
from rankae.recipe.fitting import network_settings
from rankae.recipe.notes import Training
from rankae.recipe.settings import MANY_LABELS, RecipeSettings, resolved
from rankae.refine.code import CodePart
from rankae.refine.model import Parts
from rankae.refine.neighbours import Neighbours
from rankae.refine.ranker_weights import RankerWeights
from rankae.refine.rankers import Rankers
from rankae.refine.shortlist import Shortlist
from rankae.refine.words_network import NetworkPart
from rankae.training.label_noise import denoised_start, put_right, robust_decoder
from rankae.training.warm_start import warm_start

FEWEST_TRUSTED = 20
_RIDGES = (1.0, 3.0, 10.0)
_MOST_ROUNDS = 2
_COSTS = (0.1, 0.3, 1.0)  # of the rankers: the noisier the labels, the less a row within the margin should cost


@dataclass(frozen=True)
class Trusted:
    """Rows x words and rows x labels, in the columns of the training rows."""

    rows: sp.csr_matrix
    labels: sp.csr_matrix

    def __post_init__(self) -> None:
        if self.rows.shape[0] != self.labels.shape[0]:
            raise DataError(f"there are {self.rows.shape[0]} trusted rows but {self.labels.shape[0]} rows of labels")
        if self.rows.shape[0] < FEWEST_TRUSTED:
            raise DataError(f"{self.rows.shape[0]} trusted rows cannot choose; give at least {FEWEST_TRUSTED}, or none")

    def __len__(self) -> int:
        return self.labels.shape[0]

    def figures(self, columns: np.ndarray) -> dict[str, float]:
        """P@1, P@3 and P@5 of the best labels of each row; their sum is what choices are made by."""
        found = evaluate(columns, self.labels)
        return {name: round(float(found[name]), 2) for name in ("P@1", "P@3", "P@5")}


def chosen_by_trusted(
    rows: sp.csr_matrix, labels: sp.csr_matrix, settings: RecipeSettings, trusted: Trusted, training: Training
) -> RecipeSettings:
    """Settings whose lambda and rounds of label correction give the closed-form start that ranks trusted rows best."""
    began = time.perf_counter()
    size = settings.code_size or int(min(400, *labels.shape))
    ridges = _RIDGES if settings.ridge is None else (settings.ridge,)
    rounds = range(_MOST_ROUNDS + 1) if settings.noise_rounds is None else (settings.noise_rounds,)
    found: dict[tuple[float, int], dict[str, float]] = {}
    for ridge in ridges:
        start = warm_start(rows, labels, size, ridge, settings.seed)
        for done in range(max(rounds) + 1):
            if done:
                soft = put_right(labels, start, settings.proposed, settings.seed)
                start = warm_start(rows, soft, size, ridge, settings.seed)
            if done in rounds:
                table = robust_decoder(start, labels) if done else start.label_table
                codes = sparse_product(trusted.rows, start.word_table)
                found[ridge, done] = trusted.figures(top_k(codes, table, None, 5)[0])
    ridge, done = max(found, key=lambda pair: sum(found[pair].values()))
    training.evidence |= {f"ridge {pair[0]:g}, {pair[1]} rounds": figures for pair, figures in found.items()}
    training.timed("choice of ridge", began)
    chosen = {"ridge": ridge, "noise_rounds": done}
    said = {
        name: f"{value:g} (best on {len(trusted)} trusted rows)"
        for name, value in chosen.items()
        if getattr(settings, name) is None
    }
    settings = resolved(replace(settings, ridge=ridge, noise_rounds=done), rows, labels, training)
    training.choices |= said
    return settings


def fit_parts_once(
    rows: sp.csr_matrix, labels: sp.csr_matrix, settings: RecipeSettings, trusted: Trusted, training: Training
) -> Parts:
    """Train the parts that the settings name on `rows`; trusted rows choose tuning's epoch and the rankers' cost."""
    assert settings.code_size is not None
    assert settings.ridge is not None
    rounds, seed, many = settings.noise_rounds or 0, settings.seed, labels.shape[1] > MANY_LABELS
    began = time.perf_counter()
    start = denoised_start(rows, labels, settings.code_size, settings.ridge, rounds, settings.proposed, seed)
    counts = np.bincount(labels.indices, minlength=labels.shape[1]).astype(np.float32)
    parts = Parts(CodePart.untouched(start), counts, settings.proposed)
    if rounds:
        parts.code.label_table = robust_decoder(start, labels)
    training.timed("warm start", began)
    voted = None
    if settings.neighbours:
        began = time.perf_counter()
        parts.neighbours = Neighbours(rows, labels)
        voted = parts.neighbours.read(rows, honest=True).propose(settings.proposed)
        training.timed("neighbours", began)
    if settings.tuning and (voted is not None or not many):
        began = time.perf_counter()
        codes = np.vstack([start.honest_codes, sparse_product(trusted.rows, start.word_table)])
        parts.code = parts.code.tuned(
            codes,
            sp.vstack([labels, trusted.labels], format="csr"),
            check=np.arange(len(start.honest_codes), len(codes)),
            rivals=voted if many else None,
            epochs=settings.tuning_epochs or 10,
            seed=seed,
        )
        training.timed("tuning", began)
    if settings.network:
        began = time.perf_counter()
        how = network_settings(settings, rows)
        parts.network = NetworkPart.train(rows, labels, how, settings.network, seed, training.note)
        training.timed("network", began)
    if settings.rankers:
        began = time.perf_counter()
        honest = parts.code.read_codes(start.honest_codes).propose(settings.proposed)
        shortlist = Shortlist.union([honest] if voted is None else [honest, voted])
        costs = _COSTS if settings.ranker_cost is None else (settings.ranker_cost,)
        tried = {cost: Rankers.train(rows, labels, shortlist, cost=cost, seed=seed)[0] for cost in costs}
        cost = _best_cost(tried, parts.opinions(trusted.rows).shortlist, trusted)
        parts.rankers = tried[cost]
        if len(tried) > 1:
            training.choices["ranker_cost"] = f"{cost:g} (best on {len(trusted)} trusted rows)"
        training.timed("rankers", began)
    return parts


def _best_cost(tried: dict[float, Rankers], shortlist: Shortlist, trusted: Trusted) -> float:
    """The cost whose rankers order best what the other parts propose for trusted rows."""
    ranked = {
        cost: shortlist.best(RankerWeights.of(rankers).scores(trusted.rows, shortlist), 5)[0]
        for cost, rankers in tried.items()
    }
    return max(ranked, key=lambda cost: sum(trusted.figures(ranked[cost]).values()))
