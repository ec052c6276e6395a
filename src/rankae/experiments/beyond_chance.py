"""Whether the best of many trials is better than the defaults, or merely the luckiest: row by row, on the same rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import log, sqrt
from typing import Any

import numpy as np

from rankae.data.dataset import Dataset
from rankae.experiments.tune import Found, row_precisions
from rankae.metrics import standard_error


@dataclass(frozen=True)
class Gain:
    """What the best trial has over the defaults.

    gain : difference of the mean of P@k, in points.
    by_chance : what the luckiest of so many equally good trials would be ahead by.
    tried : parameters of the best trial.
    """

    gain: float
    by_chance: float
    tried: dict[str, Any]

    @property
    def is_real(self) -> bool:
        return self.gain > self.by_chance

    def told(self) -> str:
        verdict = "taken" if self.is_real else "within chance, so the defaults are kept"
        tried = ", ".join(f"{name}={value}" for name, value in self.tried.items())
        return f"{tried}: {self.gain:+.2f} points over the defaults, {self.by_chance:.2f} by chance; {verdict}"

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"taken": self.is_real}


def gain_over_defaults(
    method: str, found: Found, learn: Dataset, check: Dataset, seed: int, k: Sequence[int]
) -> Gain | None:
    """The gain of the best trial, from one training each; None if the best trial is the defaults.

    The best of n equally good trials is ahead by about sqrt(2 ln n) standard errors of the paired difference.
    """
    if not found.parameters:
        return None
    ours, usual = (row_precisions(method, own, learn, check, seed, k) for own in (found.parameters, {}))
    by_chance = standard_error(ours - usual) * max(1.0, sqrt(2 * log(max(1, found.trials))))
    return Gain(round(float(np.mean(ours - usual)), 4), round(by_chance, 4), found.parameters)
