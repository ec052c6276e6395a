"""Train every component, in the order in which they need each other, and score rows that they have not seen.

Nothing is trained twice for the sake of evidence. F and each label's ranker are solved without the held-out rows first
and go on with them from there; neighbours are asked without the row itself; D is tuned without the held-out rows
anyway; and the networks that have not seen them are the first members of the ensemble. What rankers learn from without
some rows is what would be proposed without them: a held-out row's labels must not even choose the negatives around it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from rankae.base.held_out import MOST_PLACES, HeldOut
from rankae.components.closed_form import ClosedForm
from rankae.components.neighbours import Neighbours
from rankae.components.network import NetworkComponent, WordsNetworkSettings
from rankae.components.predictions import Predictions
from rankae.components.rankers import Rankers, random_negatives
from rankae.components.stack import ScoredShortlist, Stack, closeness
from rankae.data.near_duplicates import held_out_folds
from rankae.model_file import pack_csr, unpack_csr
from rankae.numerics.row_search import is_dense
from rankae.numerics.shortlist import Shortlist
from rankae.paper.closed_form import WarmStart
from rankae.recipe.label_correction import denoised_start, robust_decoder
from rankae.recipe.ranker_cost import choose_cost
from rankae.recipe.settings import Resolved, common_labels
from rankae.recipe.steps import State
from rankae.recipe.task import Task

_FEWEST_ROWS = 100  # fewer rows say nothing about which components help


@dataclass
class Fitted:
    """The components, and their scores of the held-out or trusted rows `held` (places); None if those are too few.

    leave_one_out : then, how the code by itself ranks each row without having learnt from its labels.
    """

    stack: Stack
    held: np.ndarray
    candidates: ScoredShortlist | None
    leave_one_out: HeldOut | None = None


def fit_components(task: Task) -> Fitted:
    """Train the components that the settings name; of the networks, those that the evidence needs."""
    rows, labels, settings, training = task.rows, task.labels, task.settings, task.training
    n, L = labels.shape
    counts = np.bincount(labels.indices, minlength=L).astype(np.float32)
    votes = None
    if settings.neighbours:
        began = time.perf_counter()
        neighbours = Neighbours.of(rows, labels, most_rows=settings.most_rows)
        found, cosine = neighbours.nearest(rows, leave_one_out=True)
        votes = neighbours.votes(found, cosine)
        training.timed("neighbours", began)
    voted = None if votes is None else votes.propose(settings.proposed)
    alone = not (settings.neighbours or settings.rankers or settings.network) or n < _FEWEST_ROWS
    nearest = np.zeros(n, dtype=np.float32) if votes is None else votes.nearest
    fold = np.full(n, -1, dtype=np.int8) if alone else held_out_folds(nearest, settings.seed)
    folds = [np.flatnonzero(fold == f) for f in range(fold.max(initial=-1) + 1)]
    code, checked, loo_codes, without = _fit_code(task, folds)
    stack = Stack(code, counts, settings.proposed)
    if alone:
        best = code.predict_codes(loo_codes).best(min(MOST_PLACES, L))
        return Fitted(stack, np.array([], dtype=np.int64), None, HeldOut(*best, labels))
    if votes is not None:
        stack.neighbours = neighbours
    networks = _held_out_networks(task, folds) if settings.network else []
    if networks:
        # Each has seen at least four fifths of the rows, so together they are as good an ensemble as any.
        stack.network = NetworkComponent([network.members[0] for network in networks], networks[0].settings)
    predictions: list[dict[str, Predictions]] = []
    for f, held in enumerate(folds):
        predictions.append({"code": checked[f].predict_codes(without[f][held])})
        if networks:
            predictions[f]["network"] = networks[f].predict(rows[held])
        if votes is not None:
            predictions[f]["neighbours"] = votes.taken(held)
    proposals = [{name: predicted.propose(settings.proposed) for name, predicted in own.items()} for own in predictions]
    out_of_fold = None
    if settings.rankers:
        began = time.perf_counter()
        hard = _hard_negatives(code.predict_codes(loo_codes).propose(settings.proposed), voted, folds, proposals)
        left = [
            [component.predict_codes(own).propose(settings.proposed)]
            for component, own in zip(checked, without, strict=True)
        ]
        if votes is not None:
            for f, own in enumerate(left):
                own.append(neighbours.proposed_without(found, cosine, fold == f, settings.proposed))
        stack.rankers, out_of_fold = _fit_rankers(task, hard, left, fold)
        training.timed("rankers", began)
    candidates = []
    for f, held in enumerate(folds):
        shortlist = Shortlist.union(list(proposals[f].values()))
        scores = {name: predicted.scores(shortlist) for name, predicted in predictions[f].items()}
        if out_of_fold is not None:
            scores["rankers"] = shortlist.values_of(out_of_fold[held])
        rest = fold != f
        # Of the rows that the components have seen: a row that is held out must not count for the labels it carries.
        counted = np.bincount(labels[rest].indices, minlength=L).astype(np.float32) * np.float32(n / rest.sum())
        near = closeness(predictions[f].get("neighbours"), shortlist)
        candidates.append(ScoredShortlist(shortlist, scores, counted[shortlist.columns], *near, proposals[f]))
    return Fitted(stack, np.concatenate(folds), ScoredShortlist.stacked(candidates))


def _fit_code(task: Task, folds: list[np.ndarray]) -> tuple[ClosedForm, list[ClosedForm], np.ndarray, list[np.ndarray]]:
    """The code, one that has not seen each fold, leave-one-out codes for the first, and codes for the others."""
    labels, settings = task.labels, task.settings

    def fit() -> State:
        start, untouched = closed_form(task, folds)
        codes = [known.codes for known in start.without]
        began = time.perf_counter()
        how: dict[str, Any] = {"epochs": settings.tuning_epochs, "seed": settings.seed}
        own: Sequence[ClosedForm] = untouched[-1:]
        if len(folds) > 1:
            own = untouched
            if settings.tuning:
                own = ClosedForm.tuned_alike(own, [*codes, start.loo_codes], labels, folds, **how)
        elif settings.tuning:
            own = [own[0].tuned(start.loo_codes, labels, check=folds[0] if folds else None, **how)]
        if settings.tuning:
            task.training.timed("tuning", began)
        arrays = {"word_table": start.word_table, "loo_codes": start.loo_codes}
        arrays |= {f"without {f}": known for f, known in enumerate(codes)}
        for i, component in enumerate(own):
            # Stack may share arrays; on disk each has its own.
            arrays |= {
                f"{i}.{name}": value.copy() for name, value in component.state()[1].items() if name != "word_table"
            }
        return {"components": len(own)}, arrays

    made, arrays = task.steps.take("code", fit)
    components = []
    for i in range(made["components"]):
        own = {name.removeprefix(f"{i}."): value for name, value in arrays.items() if name.startswith(f"{i}.")}
        components.append(ClosedForm.from_state({}, own | {"word_table": arrays["word_table"]}))
    checked = components if made["components"] > 1 else components * max(1, len(folds))
    return (
        components[-1],
        checked[: len(folds)],
        arrays["loo_codes"],
        [arrays[f"without {f}"] for f in range(len(folds))],
    )


def closed_form(task: Task, folds: list[np.ndarray]) -> tuple[WarmStart, list[ClosedForm]]:
    """The start, and the components that it makes before tuning: without each fold, and at last with all rows."""
    settings, labels = task.settings, task.labels
    began, rounds = time.perf_counter(), settings.noise_rounds
    sizes = settings.code_size, settings.ridge, rounds, settings.proposed
    start = denoised_start(task.rows, labels, *sizes, settings.seed, folds, task.embeddings)
    common = common_labels(labels, settings.code_support, settings.neighbours)
    every = np.arange(labels.shape[0])
    pairs = zip(start.without, folds, strict=True)
    known = [(own.codes, own.label_table, np.setdiff1d(every, fold)) for own, fold in pairs]
    components = []
    for codes, table, rest in [*known, (start.loo_codes, start.label_table, every)]:
        decoder = robust_decoder(codes[rest], table, labels[rest]) if rounds else table
        components.append(ClosedForm.untouched(replace(start, label_table=decoder), common))
    task.training.timed("warm start", began)
    return start, components


def _held_out_networks(task: Task, folds: list[np.ndarray]) -> list[NetworkComponent]:
    """A network that has not seen the rows of each fold."""
    began = time.perf_counter()
    found = [train_network(task.without(held), f"network {f}", 1, task.settings.seed) for f, held in enumerate(folds)]
    task.training.timed("network", began)
    return found


def whole_network(task: Task, held_out: NetworkComponent) -> NetworkComponent:
    """The held-out networks, and as many trained on all rows as are missing from what the settings name."""
    members = list(held_out.members)
    if (missing := task.settings.network - len(members)) > 0:
        began = time.perf_counter()
        members += train_network(task, "more networks", missing, task.settings.seed + 1).members
        task.training.timed("network", began)
    return NetworkComponent(members, held_out.settings)


def train_network(task: Task, step: str, members: int, seed: int) -> NetworkComponent:
    """A network of so many members; `step` is the name under which it is kept."""

    def fit() -> State:
        how = _network_settings(task.settings, task.rows), members, seed, task.training.note, task.embeddings
        return NetworkComponent.train(task.rows, task.labels, *how).state()

    made, arrays = task.steps.take(step, fit)
    return NetworkComponent.from_state(made, arrays, task.settings.device)


def _hard_negatives(
    by_code: np.ndarray, voted: np.ndarray | None, folds: list[np.ndarray], of_held_out: list[dict[str, np.ndarray]]
) -> list[np.ndarray]:
    """What code, network and neighbours propose for each row, where they say so; of held-out rows, all of them do."""
    found = [by_code] if voted is None else [by_code, voted]
    if "network" in of_held_out[0]:
        found.append(np.full((len(by_code), of_held_out[0]["network"].shape[1]), -1, dtype=np.int32))
    for held, own in zip(folds, of_held_out, strict=True):
        by_code[held] = own["code"]
        if "network" in own:
            found[-1][held] = own["network"]
    return found


def _fit_rankers(
    task: Task, hard: list[np.ndarray], left: list[list[np.ndarray]], fold: np.ndarray
) -> tuple[Rankers, sp.csr_matrix]:
    """The rankers, and what they say of held-out rows.

    hard, left : the labels that the other components propose, and that they would propose without each fold.
    """
    rows, labels, settings = task.rows, task.labels, task.settings

    def fit() -> State:
        negatives = random_negatives(labels, settings.random_negatives, settings.seed)
        shortlist, without = Shortlist.union([*hard, negatives]), [Shortlist.union([*own, negatives]) for own in left]
        cost = settings.ranker_cost
        if cost is None:
            proposed = Shortlist.union(hard)
            cost, merits = choose_cost(rows, labels, shortlist, proposed, fold, without[0], settings.seed)
            shown = ", ".join(f"{c:g}: {merit:.1f}" for c, merit in merits.items())
            task.training.choices["ranker_cost"] = f"{cost:g} (average precision on held-out rows {shown})"
        how: dict[str, Any] = {"cost": cost, "seed": settings.seed}
        rankers, out_of_fold = Rankers.train(rows, labels, shortlist, fold=fold, without=without, **how)
        made, arrays = rankers.state()
        return made, arrays | pack_csr("out_of_fold", out_of_fold)

    made, arrays = task.steps.take("rankers", fit)
    return Rankers.from_state(made, arrays), unpack_csr(arrays, "out_of_fold")


def _network_settings(settings: Resolved, rows: sp.csr_matrix) -> WordsNetworkSettings:
    """Of the networks, as the recipe and the data ask for."""
    # A long row of words says the same thing often, so more of it can be hidden from a step. A dense row does not.
    dense, long = is_dense(rows), rows.nnz > 25 * rows.shape[0]
    return WordsNetworkSettings(
        word_size=settings.word_size,
        attention=settings.attention,
        loss=settings.loss,
        epochs=settings.epochs,
        word_dropout=0.1 if dense else 0.5 if long else 0.3,
        learning_rate=1e-2 if dense else 3e-3,
        batch=256 if rows.shape[0] >= 4000 else max(16, rows.shape[0] // 16),  # small data needs its steps
        device=settings.device,
    )
