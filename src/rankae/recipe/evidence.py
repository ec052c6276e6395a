"""What rows that the components have not seen say about them: which to keep, and the training of the stacker."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from rankae.base.held_out import MOST_PLACES, HeldOut
from rankae.components.stack import ScoredShortlist
from rankae.components.stacker import Stacker
from rankae.metrics import inverse_propensities, precisions, row_merits, standard_error
from rankae.recipe.notes import Training
from rankae.recipe.settings import RecipeSettings


def components_to_keep(
    candidates: ScoredShortlist, right: sp.csr_matrix, settings: RecipeSettings, training: Training
) -> tuple[list[str], bool]:
    """All components, but for those without which held-out rows are ranked better by more than chance.

    A component that has been trained stays unless it does harm: the stacker learns whom to believe, an scores too many
    hardly costs precision, and a few thousand rows do not show the little that most components add. Each is left out in
    turn, and the one that harms most goes first.

    Returns
    -------
    the components, and whether a stacker helps: the code by itself may do without one.
    """
    kept = list(candidates.scores)
    columns = _cross_checked(candidates, kept, right, settings)
    training.evidence["all"] = precisions(columns, right)
    alone = {name: candidates.shortlist.best(scores, 5)[0] for name, scores in candidates.scores.items()}
    training.evidence |= {f"{name} alone": precisions(own, right) for name, own in alone.items()}
    while len(kept) > 1:
        trials = {
            name: _cross_checked(candidates, [p for p in kept if p != name], right, settings)
            for name in kept
            if name != "code"  # the others lean on its proposals
        }
        for name, found in trials.items():
            about = f"without {name}" if len(kept) == len(candidates.scores) else f"then {name}"
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


def _cross_checked(
    candidates: ScoredShortlist, components: list[str], right: sp.csr_matrix, settings: RecipeSettings
) -> np.ndarray:
    """The five best labels by a stacker of these, each half of the held-out rows ranked by that of the other."""
    own = candidates.of(components, right.shape[1])
    seen, truth = own.evidence(), own.shortlist.values_of(right)
    rows = len(own.shortlist)
    columns = np.empty((rows, 5), dtype=np.int32)
    halves = np.arange(rows) % 2 == 0
    for learn, check in ((halves, ~halves), (~halves, halves)):
        learn, check = np.flatnonzero(learn), np.flatnonzero(check)
        entries, others = own.shortlist.entries_of(learn), own.shortlist.entries_of(check)
        stacker = Stacker.train(
            own.shortlist.taken(learn), seen[entries], truth[entries], most_steps=600, seed=settings.seed
        )
        columns[check] = own.shortlist.taken(check).best(stacker.scores(seen[others]), 5)[0]
    return columns


def train_stacker(
    candidates: ScoredShortlist,
    right: sp.csr_matrix,
    labels: sp.csr_matrix,
    settings: RecipeSettings,
    training: Training,
) -> Stacker:
    seen = candidates.evidence()
    every = np.arange(len(candidates.shortlist))
    stacker = _stacker_of(every, candidates, seen, _worth(candidates, right, labels, settings), settings)
    scores = np.sort(stacker.scores(seen))
    training.threshold = float(scores[-min(right.nnz, len(scores))]) if right.nnz else None
    return stacker


def held_out_predictions(
    candidates: ScoredShortlist, right: sp.csr_matrix, labels: sp.csr_matrix, settings: RecipeSettings, stacked: bool
) -> HeldOut:
    """The ranking of each held-out row by what has not learnt from it: each half by the stacker of the other half.

    stacked : whether there is a stacker; without one the code's scores are the model's.
    """
    shortlist, scores = candidates.shortlist, candidates.scores["code"]
    if stacked:
        seen, worth = candidates.evidence(), _worth(candidates, right, labels, settings)
        scores = np.empty(len(shortlist.columns), dtype=np.float32)
        halves = np.arange(len(shortlist)) % 2 == 0
        for learn, check in ((halves, ~halves), (~halves, halves)):
            stacker = _stacker_of(np.flatnonzero(learn), candidates, seen, worth, settings)
            others = shortlist.entries_of(np.flatnonzero(check))
            scores[others] = stacker.scores(seen[others])
    return HeldOut(*shortlist.best(scores, min(MOST_PLACES, right.shape[1])), right)


def _worth(
    candidates: ScoredShortlist, right: sp.csr_matrix, labels: sp.csr_matrix, settings: RecipeSettings
) -> np.ndarray:
    """What it is worth to rank each entry high: 1 if the row carries the label, more if propensities count."""
    truth = candidates.shortlist.values_of(right)
    if settings.objective == "psp":
        truth = truth * inverse_propensities(labels)[candidates.shortlist.columns].astype(np.float32)
    return truth


def _stacker_of(
    rows: np.ndarray, candidates: ScoredShortlist, seen: np.ndarray, worth: np.ndarray, settings: RecipeSettings
) -> Stacker:
    """The final stacker, learnt from some of the held-out rows."""
    entries = candidates.shortlist.entries_of(rows)
    members = 2 if settings.effort == "low" else 4
    shortlist = candidates.shortlist.taken(rows)
    return Stacker.train(shortlist, seen[entries], worth[entries], members=members, seed=settings.seed)
