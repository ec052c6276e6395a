"""The orchestrator: trains every component in order of dependency, then the stacker.

There are two sources of validation rows, which the stacker learns from: training rows held out in folds
(`HeldOutFolds`), and further rows with trusted labels (`TrustedRows`). Both implement `ValidationRows`.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from rankae.base.choices import choice
from rankae.base.held_out import MOST_PLACES, HeldOut
from rankae.components.closed_form import ClosedForm
from rankae.components.joint_network import JointNetwork
from rankae.components.rankers import Rankers
from rankae.components.registry import PlainComponent, plain_components
from rankae.components.stack import ScoredShortlist, Stack
from rankae.metrics import precisions, row_merits
from rankae.progress import stage, stages
from rankae.recipe import rules
from rankae.recipe.evidence import StackerRows, held_out_predictions, rows_of_single_labels, train_stacker
from rankae.recipe.held_out import HeldOutFolds
from rankae.recipe.storage import stored_small
from rankae.recipe.task import Task
from rankae.recipe.trusted import Trusted, TrustedRows
from rankae.recipe.unseen_labels import rows_of_unseen_labels
from rankae.recipe.votes import Votes

CODE, NETWORK, RANKERS, STACKER = "the code", "the network", "the rankers", "the stacker"


class ValidationRows(Protocol):
    """Rows to train the stacker on, and the components, each fitted so that it can score these rows unseen."""

    @property
    def rows(self) -> sp.csr_matrix: ...

    @property
    def labels(self) -> sp.csr_matrix:
        """Labels of `rows`."""

    @property
    def learnable(self) -> np.ndarray:
        """bool [rows]: whether a component can know a label of the row, or the row has none."""

    @property
    def groups(self) -> np.ndarray | None:
        """The group of alike rows that each of `rows` is in; None if each is its own."""

    def label_counts(self) -> np.ndarray:
        """Number of training rows of each label (an estimate where labels are noisy)."""

    def fit_code(self) -> tuple[ClosedForm, np.ndarray]:
        """The closed-form component, and the leave-one-out codes of the training rows."""

    def ranked_by_code(self, k: int) -> HeldOut | None:
        """The ranking of `rows` by the closed-form component alone; None if there are no rows."""

    def fit_network(self) -> JointNetwork: ...

    def fit_plain(self, name: str, kind: type[PlainComponent]) -> Any:
        """A component from the registry that needs only rows and labels."""

    def fit_rankers(self, stack: Stack) -> Rankers:
        """Rankers, whose hard negatives are what the components of the stack propose. Codes may be gone after this."""

    def score(self, stack: Stack) -> ScoredShortlist:
        """Every component's scores of the shortlisted labels of `rows`."""


def fit_stack(task: Task, trusted: Trusted | None = None) -> Stack:
    """Train the components that the settings name, and the stacker that joins them."""
    with stages(*_stage_names(task, few=trusted is None and task.rows.shape[0] < rules.FEWEST_ROWS)):
        return _fit_stages(task, trusted)


def _stage_names(task: Task, few: bool) -> list[str]:
    wanted = {NETWORK: task.settings.network, RANKERS: task.settings.rankers, STACKER: True}
    return [CODE, *(name for name, is_wanted in wanted.items() if is_wanted and not few)]


def _fit_stages(task: Task, trusted: Trusted | None) -> Stack:
    settings, training = task.settings, task.training
    stage(CODE)
    votes = Votes.of(task) if settings.neighbours else None
    only_code = not (settings.neighbours or settings.rankers or settings.network)
    few = trusted is None and task.rows.shape[0] < rules.FEWEST_ROWS
    validation: ValidationRows
    if trusted is not None:
        validation = TrustedRows(task, votes, trusted)
    else:
        validation = HeldOutFolds(task, votes)
    code, loo_codes = validation.fit_code()
    stack = Stack(code, validation.label_counts(), settings.proposed)
    if only_code or few:
        training.held_out = validation.ranked_by_code(min(MOST_PLACES, task.labels.shape[1]))
        training.choices["components"] = choice("components", ["code"], "few rows" if few else "as set")
        return stack
    del loo_codes  # validation keeps them as long as they are needed: they take much memory
    stack.neighbours = None if votes is None else votes.neighbours
    stack.names = task.names
    if settings.network:
        stage(NETWORK)
        stack.network = validation.fit_network()
    for name, kind in plain_components().items():
        stack.others[name] = validation.fit_plain(name, kind)
    if settings.rankers:
        stage(RANKERS)
        stack.rankers = validation.fit_rankers(stack)
    stage(STACKER)
    candidates = _fit_stacker(task, stack, validation, with_single_labels=trusted is None)
    stack, storage = stored_small(stack, validation.rows, validation.labels, candidates)
    training.choices |= storage
    return stack


def _fit_stacker(task: Task, stack: Stack, validation: ValidationRows, with_single_labels: bool) -> ScoredShortlist:
    settings, training = task.settings, task.training
    candidates = validation.score(stack)
    candidates = _with_names_if_they_help(task, stack, candidates, validation)
    training.choices["components"] = choice(
        "components", list(candidates.scores), "in the order of the stacker's inputs"
    )
    began = time.perf_counter()
    rows = StackerRows.of(candidates, validation.labels, task.labels, settings)
    extra = None
    if with_single_labels:
        extra = rows_of_single_labels(task, stack, len(rows.shortlist))
    if (unseen := rows_of_unseen_labels(task, stack, candidates, validation.labels)) is not None:
        rows = rows.of_labels(~task.unseen_labels)
        extra = unseen.followed_by(extra)
    stack.stacker = train_stacker(rows, validation.learnable, extra, settings)
    training.threshold = rows.threshold(stack.stacker, validation.labels)
    groups = validation.groups
    held_out = held_out_predictions(rows, validation.labels, validation.learnable, extra, settings, groups)
    training.held_out = replace(held_out, nearest=candidates.nearest)
    training.evidence["all"] = precisions(training.held_out.columns[:, :5], validation.labels)
    for name, scores in candidates.scores.items():
        alone = candidates.shortlist.best(scores, 5)[0]
        training.evidence[f"{name} alone"] = precisions(alone, validation.labels)
    training.timed("stacker", began)
    return candidates


def _with_names_if_they_help(
    task: Task, stack: Stack, candidates: ScoredShortlist, validation: ValidationRows
) -> ScoredShortlist:
    """The candidates, without the scores by label names if validation rows are ranked better without them.

    Names stay if some labels occur on no training row, because no other component can propose those.
    """
    if task.names is None or task.unseen_labels.any():
        return candidates
    name = task.names.name
    without = replace(candidates, scores={n: scores for n, scores in candidates.scores.items() if n != name})
    merit = {}
    for case, scored in (("with", candidates), ("without", without)):
        rows = StackerRows.of(scored, validation.labels, task.labels, task.settings)
        ranked = held_out_predictions(
            rows, validation.labels, validation.learnable, None, task.settings, validation.groups
        )
        merit[case] = float(row_merits(ranked.columns[:, :5], validation.labels).mean())
    keep = merit["with"] >= merit["without"]
    reason = "mean precision of held-out rows with and without"
    task.training.choices["label_names"] = choice("label_names", keep, reason, merit)
    if keep:
        return candidates
    stack.names = None
    return without
