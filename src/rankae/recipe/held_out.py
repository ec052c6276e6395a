"""Training rows held out in folds: what the stacker learns from where no further rows are given.

Nothing is trained twice for the sake of evidence. F and each label's ranker are solved without the held-out rows first
and go on with them from there; neighbours are asked without the row itself; D is tuned without the held-out rows
anyway; and the networks that have not seen them are the first members of the ensemble. What rankers learn from without
some rows is what would be proposed without them: a held-out row's labels must not even choose the negatives around it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from rankae.base.choices import choice
from rankae.components.closed_form import ClosedForm
from rankae.components.joint_network import JointNetwork
from rankae.components.predictions import Predictions
from rankae.components.rankers import Rankers, random_negatives
from rankae.components.registry import COMPONENTS, PlainComponent
from rankae.components.stack import ScoredShortlist, Stack, closeness
from rankae.data.near_duplicates import held_out_folds
from rankae.model_file import pack_csr, unpack_csr
from rankae.numerics.shortlist import Shortlist
from rankae.paper.closed_form import WarmStart, Without
from rankae.recipe.networks import train_network, trained_on_all
from rankae.recipe.plain import train_plain
from rankae.recipe.ranker_cost import choose_cost
from rankae.recipe.start_codes import closed_form
from rankae.recipe.steps import State
from rankae.recipe.task import Task
from rankae.recipe.votes import Votes


class HeldOutFolds:
    """Places of the training rows of each fold, and every component without them (see `recipe.fitting`)."""

    def __init__(self, task: Task, votes: Votes | None, fold_count: int | None = None) -> None:
        """fold_count : 0 to hold nothing out; by default as many folds as the rows ask for."""
        self.task, self.votes = task, votes
        n = task.rows.shape[0]
        nearest = np.zeros(n, dtype=np.float32) if votes is None else votes.predictions.nearest
        nothing = np.full(n, -1, dtype=np.int8)
        self.fold = nothing if fold_count == 0 else held_out_folds(nearest, task.settings.seed)
        self.folds = [np.flatnonzero(self.fold == f) for f in range(self.fold.max(initial=-1) + 1)]
        self.networks: list[JointNetwork] = []
        self._ranker_scores: sp.csr_matrix | None = None
        self._plain: dict[str, list[Any]] = {}

    @cached_property
    def rows(self) -> sp.csr_matrix:
        return self.task.rows[np.concatenate(self.folds)]

    @cached_property
    def labels(self) -> sp.csr_matrix:
        return self.task.labels[np.concatenate(self.folds)]

    @cached_property
    def teaches(self) -> np.ndarray:
        """Rows whose labels stand on other rows too. Of the others nobody could know a label: that none of the
        proposed ones is right says nothing of components, only that rare labels are rare."""
        found = []
        for f, held in enumerate(self.folds):
            known = (self._counts_without(f) > 0).astype(np.float32)
            carried = np.diff(self.task.labels.indptr)[held]
            found.append((self.task.labels[held] @ known > 0) | (carried == 0))
        return np.concatenate(found)

    def label_counts(self) -> np.ndarray:
        return np.bincount(self.task.labels.indices, minlength=self.task.labels.shape[1]).astype(np.float32)

    def fit_code(self) -> tuple[ClosedForm, np.ndarray]:
        """Sets `start`, `codes` and `codes_without` too: the code without each fold, and its codes of all rows."""
        made, arrays = self.task.steps.take("code", self._tuned_codes)
        found = []
        for i in range(made["components"]):
            own = {name.removeprefix(f"{i}."): value for name, value in arrays.items() if name.startswith(f"{i}.")}
            found.append(ClosedForm.from_state({}, own | {"word_table": arrays["word_table"]}))
        self.codes = found[:-1] if len(found) > 1 else found * len(self.folds)
        self.codes_without = [arrays[f"without {f}"] for f in range(len(self.folds))]
        without = [Without(c, own.label_table) for c, own in zip(self.codes_without, self.codes, strict=True)]
        self.start = WarmStart(
            found[-1].word_table, found[-1].label_table, arrays["loo_codes"], self.task.settings.ridge, without
        )
        return found[-1], arrays["loo_codes"]

    def _tuned_codes(self) -> State:
        settings, labels, folds = self.task.settings, self.task.labels, self.folds
        start, untouched = closed_form(self.task, folds)
        codes = [known.codes for known in start.without]
        began = time.perf_counter()
        how: dict[str, Any] = {"epochs": settings.tuning_epochs, "seed": settings.seed}
        found: Sequence[ClosedForm] = untouched[-1:]
        if len(folds) > 1:
            found = untouched
            if settings.tuning:
                found = ClosedForm.tuned_alike(found, [*codes, start.loo_codes], labels, folds, **how)
        elif settings.tuning:
            found = [found[0].tuned(start.loo_codes, labels, check=folds[0] if folds else None, **how)]
        if settings.tuning:
            self.task.training.timed("tuning", began)
        arrays = {"word_table": start.word_table, "loo_codes": start.loo_codes}
        arrays |= {f"without {f}": known for f, known in enumerate(codes)}
        for i, code in enumerate(found):
            # In memory they may share arrays; on disk each has its own.
            arrays |= {f"{i}.{name}": v.copy() for name, v in code.state()[1].items() if name != "word_table"}
        return {"components": len(found)}, arrays

    def fit_network(self) -> JointNetwork:
        """The network. The one that has not seen the only fold has a last look at all rows; of several folds each has
        a network of its own, and then one is trained on all rows."""
        began, task = time.perf_counter(), self.task
        for f, known in enumerate(self.start.without):
            start = replace(self.start, label_table=known.label_table, loo_codes=known.codes)
            learn = np.flatnonzero(self.fold != f)
            self.networks.append(train_network(task, f"network {f}", start, f + 1, learn))
        if len(self.folds) == 1:
            whole = trained_on_all(task, self.networks[0], self.start)
        else:
            whole = train_network(task, "network", self.start, len(self.folds) + 1)
        task.training.timed("network", began)
        return whole

    def fit_plain(self, name: str, kind: type[PlainComponent]) -> Any:
        """A component of the registry that rows and labels are all that it learns from."""
        self._plain[name] = []
        for f, held in enumerate(self.folds):
            self._plain[name].append(train_plain(self.task.without(held), f"{name} {f}", kind))
        return train_plain(self.task, name, kind)

    @cached_property
    def _predictions(self) -> list[dict[str, Predictions]]:
        """Of each fold, by components that have not seen it, and that propose labels."""
        found: list[dict[str, Predictions]] = []
        for f, held in enumerate(self.folds):
            own: dict[str, Predictions] = {"code": self.codes[f].predict_codes(self.codes_without[f][held])}
            if self.networks:
                own["network"] = self.networks[f].predict(self.task.rows[held], self.codes_without[f][held])
            if self.votes is not None:
                own["neighbours"] = self.votes.predictions.taken(held)
            if self.task.names is not None:
                own["names"] = self.task.names.predict(self.task.rows[held])
            own |= {name: without[f].predict(self.task.rows[held]) for name, without in self._plain.items()}
            found.append(own)
        return found

    @cached_property
    def _proposals(self) -> list[dict[str, np.ndarray]]:
        k = self.task.settings.proposed
        return [{name: own.propose(k) for name, own in predictions.items()} for predictions in self._predictions]

    def fit_rankers(self, stack: Stack, loo_codes: np.ndarray) -> Rankers:
        began = time.perf_counter()
        made, arrays = self.task.steps.take("rankers", lambda: self._rankers(stack, loo_codes))
        self._ranker_scores = unpack_csr(arrays, "out_of_fold")
        self.task.training.timed("rankers", began)
        return Rankers.from_state(made, arrays)

    def _rankers(self, stack: Stack, loo_codes: np.ndarray) -> State:
        task, settings = self.task, self.task.settings
        hard = self._hard_negatives(stack.code.predict_codes(loo_codes).propose(settings.proposed))
        negatives = random_negatives(task.labels, settings.random_negatives, settings.seed)
        shortlist = Shortlist.union([*hard, negatives])
        without = [Shortlist.union([*own, negatives]) for own in self._hard_negatives_without()]
        cost = settings.ranker_cost
        if cost is None:
            proposed = Shortlist.union(hard)
            cost, merits = choose_cost(
                task.rows, task.labels, shortlist, proposed, self.fold, without[0], settings.seed
            )
            reason = "average precision on held-out rows"
            task.training.choices["ranker_cost"] = choice("ranker_cost", cost, reason, merits)
        how: dict[str, Any] = {"cost": cost, "seed": settings.seed}
        rankers, scores = Rankers.train(task.rows, task.labels, shortlist, fold=self.fold, without=without, **how)
        made, arrays = rankers.state()
        return made, arrays | pack_csr("out_of_fold", scores)

    def _hard_negatives(self, by_code: np.ndarray) -> list[np.ndarray]:
        """What code, network and neighbours propose for each row, where they do; of held-out rows, all of them."""
        k = self.task.settings.proposed
        found = [by_code] if self.votes is None else [by_code, self.votes.predictions.propose(k)]
        if self.networks:
            found.append(np.full((len(by_code), self._proposals[0]["network"].shape[1]), -1, dtype=np.int32))
        for held, own in zip(self.folds, self._proposals, strict=True):
            by_code[held] = own["code"]
            if self.networks:
                found[-1][held] = own["network"]
        return found

    def _hard_negatives_without(self) -> list[list[np.ndarray]]:
        """What code and neighbours would propose for each row without each fold."""
        k, found = self.task.settings.proposed, []
        for f, (code, codes) in enumerate(zip(self.codes, self.codes_without, strict=True)):
            found.append([code.predict_codes(codes).propose(k)])
            if self.votes is not None:
                found[f].append(self.votes.proposed_without(self.fold == f, k))
        return found

    def score(self, stack: Stack) -> ScoredShortlist:
        """By components that have not seen the rows; of the stack itself nothing is asked."""
        found = []
        for f, held in enumerate(self.folds):
            predictions, proposals = self._predictions[f], self._proposals[f]
            shortlist = Shortlist.union(list(proposals.values()))
            scores = {name: predicted.scores(shortlist) for name, predicted in predictions.items()}
            if self._ranker_scores is not None:
                scores["rankers"] = shortlist.values_of(self._ranker_scores[held])
            counts = self._counts_without(f)[shortlist.columns]
            near = closeness(predictions.values(), shortlist)
            scores = {name: scores[name] for name in COMPONENTS if name in scores}  # in the stacker's order
            found.append(ScoredShortlist(shortlist, scores, counts, *near))
        return ScoredShortlist.stacked(found)

    def _counts_without(self, f: int) -> np.ndarray:
        """As many as there would be among all rows, if they were like those that the components have seen."""
        n, L = self.task.labels.shape
        rest = self.fold != f
        counts = np.bincount(self.task.labels[rest].indices, minlength=L).astype(np.float32)
        return counts * np.float32(n / rest.sum())
