"""Training a component of the registry that the recipe knows nothing else of."""

from __future__ import annotations

from typing import Any

from rankae.components.registry import PlainComponent
from rankae.recipe.steps import State
from rankae.recipe.task import Task


def train_plain(task: Task, step: str, kind: type[PlainComponent]) -> Any:
    """The component; `step` is the name under which it is kept."""

    def fit() -> State:
        return kind.trained(task.rows, task.labels, task.settings.seed).state()

    return kind.from_state(*task.steps.take(step, fit))
