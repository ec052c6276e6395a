"""Tests whether the best of many trials is better than the defaults by more than chance, paired by row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import log, sqrt
from typing import Any

import numpy as np

from rankae.data.dataset import Dataset
from rankae.experiments.tune import SearchResult, row_precisions
from rankae.metrics import standard_error


@dataclass(frozen=True)
class Gain:
    """The advantage of the best trial over the defaults.

    gain : difference of the mean of P@k, in points.
    by_chance : expected advantage of the luckiest of so many equally good trials.
    tried : parameters of the best trial.
    """

    gain: float
    by_chance: float
    tried: dict[str, Any]

    @property
    def is_real(self) -> bool:
        return self.gain > self.by_chance

    def describe(self) -> str:
        verdict = "taken" if self.is_real else "within chance, so the defaults are kept"
        parameters = ", ".join(f"{name}={value}" for name, value in self.tried.items())
        return f"{parameters}: {self.gain:+.2f} points over the defaults, {self.by_chance:.2f} by chance; {verdict}"

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"taken": self.is_real}


def gain_over_defaults(
    method: str, search: SearchResult, learn: Dataset, check: Dataset, seed: int, k: Sequence[int]
) -> Gain | None:
    """The gain of the best trial, from one training each; None if the best trial is the defaults.

    The best of n equally good trials is ahead by about sqrt(2 ln n) standard errors of the paired difference.
    """
    if not search.parameters:
        return None
    best, defaults = (
        row_precisions(method, parameters, learn, check, seed, k) for parameters in (search.parameters, {})
    )
    by_chance = standard_error(best - defaults) * max(1.0, sqrt(2 * log(max(1, search.trials))))
    return Gain(round(float(np.mean(best - defaults)), 4), round(by_chance, 4), search.parameters)
