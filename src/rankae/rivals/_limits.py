"""The limit of labels of methods whose cost grows with each label, checked before any work is done."""

from __future__ import annotations

from rankae.base.ranker import LabelRanker
from rankae.errors import DataError


def few_enough_labels(model: LabelRanker, n_labels: int, limit: int, habit: str) -> None:
    """Refuse more labels than the model's `label_limit`; `habit` says in the message why labels are expensive."""
    if n_labels > limit:
        raise DataError(
            f"{model.method} {habit} and takes up to {limit} labels, not {n_labels}: use parabel or rank-ae, "
            "or raise label_limit"
        )
