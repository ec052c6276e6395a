"""Fits a model, writes its folder, and records the facts of its training."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from rankae.base.calibration import FEWEST_ROWS
from rankae.data.fingerprint import fingerprint
from rankae.data.splits import split_rows
from rankae.data.writing import written
from rankae.methods import class_of, create

if TYPE_CHECKING:
    from rankae.base.ranker import LabelRanker
    from rankae.data import Dataset

HISTORY = "history.jsonl"
SHORT_TRAINING = 60.0  # seconds; a longer one is not repeated for probabilities unless the user asks
CALIBRATION_SHARE = 0.1


def new_ranker(method: str, parameters: dict[str, Any], usual: dict[str, Any]) -> LabelRanker:
    """A model with the user's `parameters`, and with those of `usual` that the method has."""
    known = class_of(method)._get_param_names()
    return create(method, **{name: value for name, value in usual.items() if name in known} | parameters)


def fit_and_save(
    ranker: LabelRanker,
    data: Dataset,
    place: Path,
    checked: dict[str, Dataset] | None = None,
    calibrate: bool | None = None,
    keep_old: bool = False,
    **facts: Any,
) -> dict[str, Any]:
    """Fit `ranker` on `data` and write its folder, with the figures of every epoch in history.jsonl.

    Parameters
    ----------
    checked : `trusted` rows, for methods that use them.
    calibrate : whether to calibrate a method that holds out no rows by a second training without a tenth of the rows;
        by default if the first one took less than a minute.
    keep_old : whether to keep the model that is at `place` now, as PLACE.before.

    Returns
    -------
    the facts of the training, which are stored in model.json.
    """
    began = perf_counter()
    ranker.fit_dataset(data, **checked or {})
    seconds = round(perf_counter() - began, 3)
    facts = {
        "method": ranker.method,
        "data": data.name,
        "fingerprint": fingerprint(data),
        "reading": None if data.reading is None else data.reading.to_json(),
        "rows": len(data),
        "labels": len(ranker.classes_),
        "features": ranker.n_features_in_,
        "seconds": seconds,
        "choices": dict(getattr(ranker, "choices_", {})),
    } | facts
    facts["calibration"] = _calibrate(ranker, data, seconds, calibrate)
    if "checkpoint" in ranker.get_params():
        ranker.set_params(checkpoint=None, resume=False)  # of this run, not of the model
    if keep_old:
        _keep_copy(place)
    ranker.save(place, **facts)
    if history := getattr(ranker, "history_", None):
        with written(place / HISTORY) as stream:
            stream.writelines(f"{json.dumps(figures)}\n".encode() for figures in history)
    return facts


def model_of_other_data(place: Path, data: Dataset) -> str | None:
    """A description of the data that the model at `place` was trained on; None if it is `data`, or there is no
    model."""
    from rankae.errors import ModelFileError
    from rankae.model_file import read_manifest

    if not place.exists() or not any(place.iterdir()):
        return None
    try:
        facts = read_manifest(place)["facts"]
    except ModelFileError:
        return "it cannot be read"
    if facts.get("fingerprint") == fingerprint(data):
        return None
    return f"{facts.get('data', 'unknown')}, {facts['rows']:,} rows" if "rows" in facts else "of which nothing is known"


def _keep_copy(place: Path) -> None:
    """Copy the folder to PLACE.before, by hard links where possible."""
    beside = place.with_name(f"{place.name}.before")
    number = 1
    while beside.exists():
        number += 1
        beside = place.with_name(f"{place.name}.before-{number}")
    shutil.copytree(place, beside, copy_function=_link_or_copy)


def _link_or_copy(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def _calibrate(ranker: LabelRanker, data: Dataset, seconds: float, calibrate: bool | None) -> str:
    """Calibrate a model that was not calibrated by its training, if wanted; returns a description of the
    calibration."""
    if ranker.calibration_ is not None:
        return ranker.calibration_.describe()
    if (calibrate is None and seconds > SHORT_TRAINING) or calibrate is False or len(data) < 2 * FEWEST_ROWS:
        return f"none; --calibrate trains once more without a tenth of the rows, about {seconds:.0f} s"
    began = perf_counter()
    learn, check = split_rows(len(data), max(CALIBRATION_SHARE, FEWEST_ROWS / len(data)), 0)
    ranker.calibrate_with(data.take(learn), data.take(check))
    if ranker.calibration_ is None:
        return "none; the held-out rows carry no labels"
    return f"{ranker.calibration_.describe()}, from a second training without them ({perf_counter() - began:.1f} s)"
