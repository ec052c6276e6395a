"""Training rows held out in folds, which the stacker learns from if no trusted rows are given.

Out-of-fold scores cost little beyond the training itself. F and each label's ranker are first solved without the
held-out rows, and then continue from that solution with all rows. Neighbours are searched among the other rows. The
rankers of a fold also choose their hard negatives without the fold: a held-out row's labels must not influence even
those. And a held-out row is read as a vocabulary of the other rows reads it, as later rows will be (`NewRows`).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cached_property
from typing import Any, cast

import numpy as np
import scipy.sparse as sp

from rankae.base.choices import choice
from rankae.base.held_out import HeldOut
from rankae.components.closed_form import ClosedForm
from rankae.components.joint_network import JointNetwork
from rankae.components.label_names import LabelNames
from rankae.components.predictions import Predictions
from rankae.components.rankers import Rankers, random_negatives
from rankae.components.registry import COMPONENTS, PlainComponent
from rankae.components.stack import ScoredShortlist, Stack, closeness
from rankae.data.near_duplicates import alike_groups, groups_in_runs, held_out_folds, runs_of_rows
from rankae.data.new_rows import NewRows
from rankae.model_file import pack_csr, unpack_csr
from rankae.numerics.shortlist import Shortlist
from rankae.paper.closed_form import WarmStart, Without
from rankae.recipe.network_component import train_network, trained_on_all
from rankae.recipe.ranker_cost import choose_cost
from rankae.recipe.start_codes import closed_form
from rankae.recipe.steps import State
from rankae.recipe.task import Task
from rankae.recipe.votes import Votes


class HeldOutFolds:
    """The folds of the training rows, and every component fitted without each fold (see `recipe.fitting`)."""

    def __init__(self, task: Task, votes: Votes | None) -> None:
        self.task, self.votes = task, votes
        n = task.rows.shape[0]
        self._groups = np.arange(n) if votes is None else alike_groups(votes.nearest, votes.cosine)
        self.fold = held_out_folds(runs_of_rows(task.labels), task.settings.seed)
        self.folds = [np.flatnonzero(self.fold == f) for f in range(self.fold.max(initial=-1) + 1)]
        self.networks: list[JointNetwork] = []
        self._ranker_scores: sp.csr_matrix | None = None
        self._plain: dict[str, list[Any]] = {}

    @cached_property
    def rows(self) -> sp.csr_matrix:
        return sp.vstack([new.rows for new in self._as_new], format="csr")

    @cached_property
    def _as_new(self) -> list[NewRows]:
        """The rows of each fold as a vocabulary of the other rows reads them."""
        return [NewRows.of(self.task.rows, fold, self.task.least_rows) for fold in self.folds]

    @cached_property
    def labels(self) -> sp.csr_matrix:
        return self.task.labels[np.concatenate(self.folds)]

    @cached_property
    def groups(self) -> np.ndarray:
        return self._groups[np.concatenate(self.folds)]

    @cached_property
    def learnable(self) -> np.ndarray:
        """Rows of which at least one label also occurs outside their fold, and rows without labels.

        No component can know a label of the other rows, so they say nothing about the components.
        """
        per_fold = []
        for f, fold in enumerate(self.folds):
            known = (self._counts_without(f) > 0).astype(np.float32)
            carried = np.diff(self.task.labels.indptr)[fold]
            per_fold.append((self.task.labels[fold] @ known > 0) | (carried == 0))
        return np.concatenate(per_fold)

    def label_counts(self) -> np.ndarray:
        return np.bincount(self.task.labels.indices, minlength=self.task.labels.shape[1]).astype(np.float32)

    def fit_code(self) -> tuple[ClosedForm, np.ndarray]:
        """As the protocol says; sets `codes` (the component without each fold), `codes_without` (its codes of all
        rows) and `start`."""
        values, arrays = self.task.steps.take("code", self._tuned_codes)
        components = []
        for i in range(values["components"]):
            state = {name.removeprefix(f"{i}."): value for name, value in arrays.items() if name.startswith(f"{i}.")}
            components.append(ClosedForm.from_state({}, state | {"word_table": arrays["word_table"]}))
        self.codes = components[:-1] if len(components) > 1 else components * len(self.folds)
        self.codes_without = [arrays[f"without {f}"] for f in range(len(self.folds))]
        without = [Without(c, state.label_table) for c, state in zip(self.codes_without, self.codes, strict=True)]
        self.start = WarmStart(
            components[-1].word_table,
            components[-1].label_table,
            arrays["loo_codes"],
            self.task.settings.ridge,
            without,
        )
        return components[-1], arrays["loo_codes"]

    def _tuned_codes(self) -> State:
        settings, labels, folds = self.task.settings, self.task.labels, self.folds
        groups = None if self.votes is None else groups_in_runs(self.votes.nearest, self.votes.cosine, labels)
        start, untouched = closed_form(self.task, folds, groups)
        codes = [fold_codes.codes for fold_codes in start.without]
        began = time.perf_counter()
        options: dict[str, Any] = {"epochs": settings.tuning_epochs, "seed": settings.seed}
        components: Sequence[ClosedForm] = untouched[-1:]
        if len(folds) > 1:
            components = untouched
            if settings.tuning:
                components = ClosedForm.tuned_alike(components, [*codes, start.loo_codes], labels, folds, **options)
        elif settings.tuning:
            components = [components[0].tuned(start.loo_codes, labels, check=folds[0] if folds else None, **options)]
        if settings.tuning:
            self.task.training.timed("tuning", began)
        arrays = {"word_table": start.word_table, "loo_codes": start.loo_codes}
        arrays |= {f"without {f}": fold_codes for f, fold_codes in enumerate(codes)}
        for i, code in enumerate(components):
            # In memory they may share arrays; on disk each has its own.
            arrays |= {f"{i}.{name}": v.copy() for name, v in code.state()[1].items() if name != "word_table"}
        return {"components": len(components)}, arrays

    def ranked_by_code(self, k: int) -> HeldOut | None:
        if not self.folds:
            return None
        ranked = [
            self.codes[f].predict_codes(self.codes_without[f][fold] * self._as_new[f].factors[:, None]).best(k)
            for f, fold in enumerate(self.folds)
        ]
        columns, scores = (np.concatenate(parts) for parts in zip(*ranked, strict=True))
        return HeldOut(columns, scores, self.labels, groups=self.groups)

    def fit_network(self) -> JointNetwork:
        """The network trained on all rows. With one fold, the network trained without it continues on all rows; with
        several folds, each has a network of its own, and one more is trained on all rows."""
        began, task = time.perf_counter(), self.task
        for f, without in enumerate(self.start.without):
            # Fewer rows may have fewer singular vectors. The words themselves are not read: rows come with their codes.
            word_table = self.start.word_table[:, : without.label_table.shape[1]]
            start = WarmStart(word_table, without.label_table, without.codes, self.start.ridge)
            learn = np.flatnonzero(self.fold != f)
            self.networks.append(train_network(task, f"network {f}", start, f + 1, learn))
        if len(self.folds) == 1:
            whole = trained_on_all(task, self.networks[0], self.start)
        else:
            whole = train_network(task, "network", self.start, len(self.folds) + 1)
        task.training.timed("network", began)
        return whole

    def fit_plain(self, name: str, kind: type[PlainComponent]) -> Any:
        self._plain[name] = []
        for f, fold in enumerate(self.folds):
            self._plain[name].append(self.task.without(fold).fit_plain(f"{name} {f}", kind))
        return self.task.fit_plain(name, kind)

    @cached_property
    def _predictions(self) -> list[dict[str, Predictions]]:
        """For each fold, the predictions of the proposing components fitted without it."""
        per_fold: list[dict[str, Predictions]] = []
        for f, fold in enumerate(self.folds):
            rows, codes = self._as_new[f].rows, self.codes_without[f][fold] * self._as_new[f].factors[:, None]
            predictions: dict[str, Predictions] = {"code": self.codes[f].predict_codes(codes)}
            if self.networks:
                predictions["network"] = self.networks[f].predict(rows, codes)
            if self.votes is not None:
                predictions["neighbours"] = self.votes.without(self.fold == f).predict(rows)
            if self.task.names is not None:
                predictions["names"] = self._names_without(f).predict(rows)
            predictions |= {name: without[f].predict(rows) for name, without in self._plain.items()}
            per_fold.append(predictions)
        return per_fold

    def _names_without(self, f: int) -> LabelNames:
        """The names of labels that other rows than those of fold f carry.

        A label of the fold alone is listed only because a held-out row carries it. Where other labels are listed that
        no row carries, it stands in for them.
        """
        names = cast(LabelNames, self.task.names)
        return names if self.task.unseen_labels.any() else names.of_labels(self._counts_without(f) > 0)

    @cached_property
    def _proposals(self) -> list[dict[str, np.ndarray]]:
        k = self.task.settings.proposed
        return [
            {name: predicted.propose(k) for name, predicted in predictions.items()} for predictions in self._predictions
        ]

    def fit_rankers(self, stack: Stack) -> Rankers:
        began = time.perf_counter()
        values, arrays = self.task.steps.take("rankers", lambda: self._rankers(stack))
        self._ranker_scores = unpack_csr(arrays, "out_of_fold")
        self.task.training.timed("rankers", began)
        return Rankers.from_state(values, arrays)

    def _rankers(self, stack: Stack) -> State:
        task, settings = self.task, self.task.settings
        by_code = stack.code.predict_codes(self.start.loo_codes).propose(settings.proposed)
        negatives = random_negatives(task.labels, settings.random_negatives, settings.seed)
        shortlist = self._hard_negatives(by_code, negatives)
        without = [Shortlist.union([*proposals, negatives]) for proposals in self._hard_negatives_without()]
        self.codes_without.clear()
        del self.start  # memory for the rankers
        cost = settings.ranker_cost
        if cost is None:
            cost, merits = choose_cost(
                task.rows, task.labels, shortlist, self._hard_negatives(by_code), self.fold, without[0], settings.seed
            )
            reason = "average precision on held-out rows"
            task.training.choices["ranker_cost"] = choice("ranker_cost", cost, reason, merits)
        factors = np.ones(task.rows.shape[0], dtype=np.float32)
        for fold, new in zip(self.folds, self._as_new, strict=True):
            factors[fold] = new.factors
        options: dict[str, Any] = {"cost": cost, "seed": settings.seed, "factors": factors}
        rankers, scores = Rankers.train(task.rows, task.labels, shortlist, fold=self.fold, without=without, **options)
        values, arrays = rankers.state()
        return values, arrays | pack_csr("out_of_fold", scores)

    def _hard_negatives(self, by_code: np.ndarray, negatives: np.ndarray | None = None) -> Shortlist:
        """Labels that the components propose for each row, and further negatives.

        Code and neighbours propose for all rows. The other components propose for held-out rows only, so that rankers
        score every label of a held-out row's shortlist.
        """
        proposals = [by_code]
        if self.votes is not None:
            proposals.append(self.votes.proposed(self.task.settings.proposed))
        places = [np.flatnonzero(self.fold < 0), *self.folds]
        lists = [[by_one[places[0]] for by_one in proposals], *([*by_all.values()] for by_all in self._proposals)]
        if negatives is not None:
            lists = [[*listed, negatives[rows]] for listed, rows in zip(lists, places, strict=True)]
        shortlists = [Shortlist.union(listed) for listed in lists]
        return Shortlist.stacked(shortlists).taken(np.argsort(np.concatenate(places)))

    def _hard_negatives_without(self) -> list[list[np.ndarray]]:
        """For each fold, the labels that code and neighbours fitted without it propose for each row."""
        k, per_fold = self.task.settings.proposed, []
        for f, (code, codes) in enumerate(zip(self.codes, self.codes_without, strict=True)):
            per_fold.append([code.predict_codes(codes).propose(k)])
            if self.votes is not None:
                per_fold[f].append(self.votes.proposed_without(self.fold == f, k))
        return per_fold

    def score(self, stack: Stack) -> ScoredShortlist:
        """Out-of-fold scores; the components of `stack` have seen the rows and are not used."""
        per_fold = []
        for f, fold in enumerate(self.folds):
            predictions, proposals = self._predictions[f], self._proposals[f]
            shortlist = Shortlist.union(list(proposals.values()))
            scores = {name: predicted.scores(shortlist) for name, predicted in predictions.items()}
            if self._ranker_scores is not None:
                scores["rankers"] = shortlist.values_of(self._ranker_scores[fold])
            counts = self._counts_without(f)[shortlist.columns]
            closest = closeness(predictions.values(), shortlist)
            scores = {name: scores[name] for name in COMPONENTS if name in scores}  # in the stacker's order
            per_fold.append(ScoredShortlist(shortlist, scores, counts, *closest))
        return ScoredShortlist.stacked(per_fold)

    def _counts_without(self, f: int) -> np.ndarray:
        """Label counts outside fold f, scaled to the number of all rows."""
        n, L = self.task.labels.shape
        rest = self.fold != f
        counts = np.bincount(self.task.labels[rest].indices, minlength=L).astype(np.float32)
        return counts * np.float32(n / rest.sum())
