"""The record of a training run."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from rankae.base.choices import Choices
from rankae.base.held_out import HeldOut


@dataclass
class Training:
    """Automatic choices, figures of every epoch, seconds of every step, and predictions of held-out rows.

    held_out : out-of-fold predictions of the finished model.
    threshold : the score at which as many labels are predicted as held-out rows carry.
    """

    choices: Choices = field(default_factory=dict)
    evidence: dict[str, dict[str, float]] = field(default_factory=dict)
    history: list[dict[str, Any]] = field(default_factory=list)
    on_epoch: Callable[[dict[str, Any]], None] | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    held_out: HeldOut | None = None
    threshold: float | None = None

    def note(self, figures: dict[str, Any]) -> None:
        self.history.append(figures)
        if self.on_epoch is not None:
            self.on_epoch(figures)

    def timed(self, name: str, began: float) -> None:
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - began
