"""The default's network: the one of the preset `network`, trained from the code's closed form."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from rankae.components.joint_network import JointNetwork
from rankae.numerics.sparse_product import sparse_product
from rankae.numerics.table import packed, unpacked
from rankae.paper.closed_form import WarmStart
from rankae.paper.joint import train_joint
from rankae.recipe import rules
from rankae.recipe.joint_network import NetworkSettings, coded, joint_settings, started
from rankae.recipe.steps import State
from rankae.recipe.task import Task


def train_network(
    task: Task,
    step: str,
    start: WarmStart,
    member: int = 1,
    learn: np.ndarray | None = None,
    validation: tuple[sp.csr_matrix, sp.csr_matrix] | None = None,
) -> JointNetwork:
    """A network; `step` is the name under which it is kept.

    member : which of the networks it is, in the figures of its epochs.
    start : its leave-one-out codes are of all rows of the task, by an F that has seen at most those to learn from.
    learn : places of these; None for all.
    validation : rows that choose the epoch.
    """

    history = task.training.history
    before = len(history)

    def note(figures: dict[str, Any]) -> None:
        task.training.note({"member": member} | figures)

    def fit() -> State:
        settings = _settings(task)
        network, settings = started(start, settings, task.embeddings)
        JointNetwork(network)  # which needs no words of the linear path, and training would copy them
        rows = coded(network, task.rows, start.loo_codes)
        labels = task.labels
        if learn is not None:
            rows, labels = rows[learn], labels[learn]
        judges = None
        if validation is not None:
            codes = sparse_product(validation[0], start.word_table)
            judges = coded(network, validation[0], codes), validation[1]
        options: dict[str, Any] = {"validation": judges, "on_epoch": note}
        made, arrays = _state(JointNetwork(train_joint(rows, labels, settings, network=network, **options)))
        return made | {"figures": history[before:]}, arrays

    made, arrays = task.steps.take(step, fit)
    figures = made.pop("figures", [])
    if len(history) == before:  # an earlier run took this step: its figures are told again
        history += figures
    return JointNetwork.from_state(made, unpacked(arrays))


def trained_on_all(task: Task, network: JointNetwork, start: WarmStart) -> JointNetwork:
    """The network after a last look at every row, those that were held out included."""

    def fit() -> State:
        settings = replace(_settings(task), epochs=rules.LAST_LOOK[0])
        settings = replace(settings, learning_rate=settings.learning_rate * rules.LAST_LOOK[1])
        settings = replace(settings, code_size=start.label_table.shape[1])
        rows = coded(network.network, task.rows, start.loo_codes)
        return _state(JointNetwork(train_joint(rows, task.labels, settings, network=network.network)))

    made, arrays = task.steps.take("network on all rows", fit)
    return JointNetwork.from_state(made, unpacked(arrays))


def _state(network: JointNetwork) -> State:
    made, arrays = network.state()
    return made, packed(arrays)


def _settings(task: Task) -> Any:
    given = task.settings
    settings = NetworkSettings(
        code_size=given.code_size,
        word_size=given.word_size,
        attention=given.attention,
        loss=given.loss,
        epochs=given.epochs,
        seed=given.seed,
        device=given.device,
    )
    return joint_settings(settings, task.rows, task.labels, {})
