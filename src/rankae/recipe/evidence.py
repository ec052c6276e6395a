"""What rows that the parts have not seen say about them: which to keep, and whom the combiner should believe."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from rankae.metrics import inverse_propensities, precisions, row_merits, standard_error
from rankae.recipe.notes import Training
from rankae.recipe.settings import RecipeSettings
from rankae.refine.combine import Combiner
from rankae.refine.model import Opinions


def parts_to_keep(
    opinions: Opinions, right: sp.csr_matrix, settings: RecipeSettings, training: Training
) -> tuple[list[str], bool]:
    """All parts, but for those without which held-out rows are ranked better by more than chance.

    A part that has been trained stays unless it does harm: the combiner learns whom to believe, an opinion too many
    hardly costs precision, and a few thousand rows do not show the little that most parts add. Each is left out in
    turn, and the one that harms most goes first.

    Returns
    -------
    the parts, and whether a combiner helps: the code by itself may do without one.
    """
    kept = list(opinions.said)
    columns = _cross_checked(opinions, kept, right, settings)
    training.evidence["all"] = precisions(columns, right)
    alone = {name: opinions.shortlist.best(said, 5)[0] for name, said in opinions.said.items()}
    training.evidence |= {f"{name} alone": precisions(own, right) for name, own in alone.items()}
    while len(kept) > 1:
        trials = {
            name: _cross_checked(opinions, [p for p in kept if p != name], right, settings)
            for name in kept
            if name != "code"  # the others lean on its proposals
        }
        for name, found in trials.items():
            about = f"without {name}" if len(kept) == len(opinions.said) else f"then {name}"
            training.evidence[about] = precisions(found, right)
        name, best = max(trials.items(), key=lambda trial: row_merits(trial[1], right).mean())
        if not _clearly_better(best, columns, right):
            break
        kept.remove(name)
        columns = best
    training.choices["evidence"] = "; ".join(
        f"{name} {f['P@1']:.1f}/{f['P@3']:.1f}/{f['P@5']:.1f}" for name, f in training.evidence.items()
    )
    return kept, len(kept) > 1 or _clearly_better(columns, alone["code"], right)


def _clearly_better(columns: np.ndarray, than: np.ndarray, right: sp.csr_matrix) -> bool:
    gain = row_merits(columns, right) - row_merits(than, right)
    return bool(gain.mean() > 2 * standard_error(gain))


def _cross_checked(opinions: Opinions, parts: list[str], right: sp.csr_matrix, settings: RecipeSettings) -> np.ndarray:
    """The five best labels by a combiner of these parts, each half of the held-out rows ranked by that of the other."""
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
    return columns


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
