"""Parameters that are out of range are told apart at `fit`, in one sentence, before any work is done."""

from __future__ import annotations

import numpy as np

from rankae.base.ranker import LabelRanker
from rankae.errors import DataError, RankaeError


def at_least(model: LabelRanker, **limits: float) -> None:
    """Refuse a parameter that is smaller than its limit, or no number; None means that the method chooses."""
    for name, limit in limits.items():
        value = getattr(model, name)
        if value is not None and not (isinstance(value, int | float | np.number) and value >= limit):
            raise RankaeError(f"{model.method}: {name} must be at least {limit}, but it is {value!r}")


def above(model: LabelRanker, **limits: float) -> None:
    """Refuse a parameter that is not larger than its limit, or no number."""
    for name, limit in limits.items():
        value = getattr(model, name)
        if not (isinstance(value, int | float | np.number) and value > limit):
            raise RankaeError(f"{model.method}: {name} must be above {limit}, but it is {value!r}")


def few_enough_labels(model: LabelRanker, n_labels: int, limit: int, habit: str) -> None:
    """Refuse more labels than the model's `label_limit`; `habit` says what makes labels expensive."""
    if n_labels > limit:
        raise DataError(
            f"{model.method} {habit} and takes up to {limit} labels, not {n_labels}: use parabel or rank-ae, "
            "or raise label_limit"
        )
