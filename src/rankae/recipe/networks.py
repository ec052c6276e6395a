"""Training the networks of the default, as the settings and the data ask for."""

from __future__ import annotations

import time

import scipy.sparse as sp

from rankae.components.network import NetworkComponent, WordsNetworkSettings
from rankae.numerics.row_search import is_dense
from rankae.recipe import rules
from rankae.recipe.settings import Resolved
from rankae.recipe.steps import State
from rankae.recipe.task import Task


def train_network(task: Task, step: str, members: int, seed: int) -> NetworkComponent:
    """A network of so many members; `step` is the name under which it is kept."""

    history = task.training.history
    before = len(history)

    def fit() -> State:
        how = _network_settings(task.settings, task.rows), members, seed, task.training.note, task.embeddings
        made, arrays = NetworkComponent.train(task.rows, task.labels, *how).state()
        return made | {"figures": history[before:]}, arrays

    made, arrays = task.steps.take(step, fit)
    figures = made.pop("figures", [])
    if len(history) == before:  # an earlier run took this step: its figures are told again
        history += figures
    return NetworkComponent.from_state(made, arrays, task.settings.device)


def whole_network(task: Task, held_out: NetworkComponent) -> NetworkComponent:
    """The held-out networks, and as many trained on all rows as are missing from what the settings name."""
    members = list(held_out.members)
    if (missing := task.settings.network - len(members)) > 0:
        began = time.perf_counter()
        members += train_network(task, "more networks", missing, task.settings.seed + 1).members
        task.training.timed("network", began)
    return NetworkComponent(members, held_out.settings)


def _network_settings(settings: Resolved, rows: sp.csr_matrix) -> WordsNetworkSettings:
    """Of the networks, as the recipe and the data ask for."""
    # A long row of words says the same thing often, so more of it can be hidden from a step. A dense row does not.
    dense, long = is_dense(rows), rows.nnz > rules.LONG_ROW * rows.shape[0]
    batch, enough = rules.NETWORK_BATCH
    return WordsNetworkSettings(
        word_size=settings.word_size,
        attention=settings.attention,
        loss=settings.loss,
        epochs=settings.epochs,
        word_dropout=rules.WORD_DROPOUT[2 if dense else 1 if long else 0],
        learning_rate=rules.LEARNING_RATE[dense],
        batch=batch if rows.shape[0] >= enough else max(16, rows.shape[0] // 16),
        device=settings.device,
    )
