"""What rows that the parts have not seen say about them: which to keep, and whom the combiner should believe."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from rankae.metrics import inverse_propensities, precisions
from rankae.recipe.notes import Training
from rankae.recipe.settings import RecipeSettings
from rankae.refine.combine import Combiner
from rankae.refine.model import Opinions

_GAIN = 0.05  # points of P@1 + P@3 + P@5 that a part must be worth to be kept


def parts_that_help(
    opinions: Opinions, right: sp.csr_matrix, settings: RecipeSettings, training: Training
) -> tuple[list[str], bool]:
    """Parts that held-out rows show to help: each is left out in turn, and the one that is missed least goes first.

    Returns
    -------
    the parts, and whether a combiner helps: the code by itself may do without one.
    """
    kept = list(opinions.said)
    figures = _cross_checked(opinions, kept, right, settings)
    training.evidence["all"] = figures
    for name in kept:
        alone = opinions.shortlist.best(opinions.said[name], 5)[0]
        training.evidence[f"{name} alone"] = precisions(alone, right)
    while len(kept) > 1:
        trials = {
            name: _cross_checked(opinions, [p for p in kept if p != name], right, settings)
            for name in kept
            if name != "code"  # the others lean on its proposals
        }
        for name, found in trials.items():
            training.evidence[f"without {name}" if len(kept) == len(opinions.said) else f"then {name}"] = found
        name, best = max(trials.items(), key=lambda item: _merit(item[1]))
        if _merit(best) < _merit(figures) - _GAIN:
            break
        kept.remove(name)
        figures = best
    training.choices["evidence"] = "; ".join(
        f"{name} {f['P@1']:.1f}/{f['P@3']:.1f}/{f['P@5']:.1f}" for name, f in training.evidence.items()
    )
    return kept, len(kept) > 1 or _merit(figures) > _merit(training.evidence["code alone"]) + _GAIN


def _cross_checked(
    opinions: Opinions, parts: list[str], right: sp.csr_matrix, settings: RecipeSettings
) -> dict[str, float]:
    """Precision of a combiner of these parts, each half of the held-out rows scored by the combiner of the other."""
    own = opinions.of(parts, right.shape[1])
    seen, truth = own.evidence(), own.shortlist.values_of(right)
    rows = len(own.shortlist)
    columns = np.empty((rows, 5), dtype=np.int32)
    halves = np.arange(rows) % 2 == 0
    for learn, check in ((halves, ~halves), (~halves, halves)):
        learn, check = np.flatnonzero(learn), np.flatnonzero(check)
        entries, others = own.shortlist.entries_of(learn), own.shortlist.entries_of(check)
        combiner = Combiner.train(
            own.shortlist.taken(learn), seen[entries], truth[entries], most_steps=600, seed=settings.seed
        )
        columns[check] = own.shortlist.taken(check).best(combiner.scores(seen[others]), 5)[0]
    return precisions(columns, right)


def train_combiner(
    opinions: Opinions, right: sp.csr_matrix, labels: sp.csr_matrix, settings: RecipeSettings, training: Training
) -> Combiner:
    seen, truth = opinions.evidence(), opinions.shortlist.values_of(right)
    if settings.objective == "psp":
        truth = truth * inverse_propensities(labels)[opinions.shortlist.columns].astype(np.float32)
    members = 2 if settings.effort == "low" else 4
    combiner = Combiner.train(opinions.shortlist, seen, truth, members=members, seed=settings.seed)
    scores = np.sort(combiner.scores(seen))
    training.threshold = float(scores[-min(right.nnz, len(scores))]) if right.nnz else None
    return combiner


def _merit(figures: dict[str, float]) -> float:
    return sum(figures.values())
