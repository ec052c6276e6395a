"""Fit a model, write its folder, and note what a reader will want to know of its training."""

from __future__ import annotations

import json
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from rankae.data.fingerprint import fingerprint
from rankae.data.writing import written
from rankae.methods import class_of, create

if TYPE_CHECKING:
    from rankae.base.ranker import LabelRanker
    from rankae.data import Dataset

HISTORY = "history.jsonl"


def new_ranker(method: str, parameters: dict[str, Any], usual: dict[str, Any]) -> LabelRanker:
    """A model with the user's `parameters`, and those of `usual` that the method has."""
    known = class_of(method)._get_param_names()
    return create(method, **{name: value for name, value in usual.items() if name in known} | parameters)


def fit_and_save(
    ranker: LabelRanker, data: Dataset, place: Path, checked: dict[str, Dataset] | None = None, **facts: Any
) -> dict[str, Any]:
    """Fit `ranker` on `data` and write its folder, with figures of every epoch in history.jsonl.

    checked : `trusted` rows, for a method that has a use for them.

    Returns what is known of the training, which model.json keeps as its facts.
    """
    began = perf_counter()
    ranker.fit_dataset(data, **checked or {})
    facts = {
        "method": ranker.method,
        "data": data.name,
        "fingerprint": fingerprint(data),
        "reading": None if data.reading is None else data.reading.to_json(),
        "rows": len(data),
        "labels": len(ranker.classes_),
        "features": ranker.n_features_in_,
        "seconds": round(perf_counter() - began, 3),
        "choices": dict(getattr(ranker, "choices_", {})),
    } | facts
    if "checkpoint" in ranker.get_params():
        ranker.set_params(checkpoint=None, resume=False)  # of this run, not of the model
    ranker.save(place, **facts)
    if history := getattr(ranker, "history_", None):
        with written(place / HISTORY) as stream:
            stream.writelines(f"{json.dumps(figures)}\n".encode() for figures in history)
    return facts
