"""The network as a component of the default model, trained from the closed-form start."""

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
    """Train a network.

    Parameters
    ----------
    step : name of the checkpoint.
    start : leave-one-out codes of all rows of the task, by an F fitted on no other rows than `learn`.
    member : number of the network, in the figures of its epochs.
    learn : indices of the training rows; None for all.
    validation : rows that choose the epoch.
    """
    history = task.training.history
    before = len(history)

    def note(figures: dict[str, Any]) -> None:
        task.training.note({"member": member} | figures)

    def fit() -> State:
        settings = _settings(task)
        network, settings = started(start, settings, task.embeddings)
        JointNetwork(network)  # drops the word table of the linear path, which training would copy
        rows = coded(network, task.rows, start.loo_codes)
        labels = task.labels
        if learn is not None:
            rows, labels = rows[learn], labels[learn]
        coded_validation = None
        if validation is not None:
            codes = sparse_product(validation[0], start.word_table)
            coded_validation = coded(network, validation[0], codes), validation[1]
        options: dict[str, Any] = {"validation": coded_validation, "on_epoch": note}
        values, arrays = _state(JointNetwork(train_joint(rows, labels, settings, network=network, **options)))
        return values | {"figures": history[before:]}, arrays

    values, arrays = task.steps.take(step, fit)
    figures = values.pop("figures", [])
    if len(history) == before:  # the step came from a checkpoint, and its figures with it
        history += figures
    return JointNetwork.from_state(values, unpacked(arrays))


def trained_on_all(task: Task, network: JointNetwork, start: WarmStart) -> JointNetwork:
    """The network after a few more epochs on all rows, the held-out ones included."""

    def fit() -> State:
        settings = replace(_settings(task), epochs=rules.LAST_LOOK[0])
        settings = replace(settings, learning_rate=settings.learning_rate * rules.LAST_LOOK[1])
        settings = replace(settings, code_size=start.label_table.shape[1])
        rows = coded(network.network, task.rows, start.loo_codes)
        return _state(JointNetwork(train_joint(rows, task.labels, settings, network=network.network)))

    values, arrays = task.steps.take("network on all rows", fit)
    return JointNetwork.from_state(values, unpacked(arrays))


def _state(network: JointNetwork) -> State:
    values, arrays = network.state()
    return values, packed(arrays)


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
