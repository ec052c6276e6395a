"""`rankae tune`: the search, its page and preset, and the model trained on everything with what was found."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rankae.data import load_dataset
from rankae.experiments.compare import write_files
from rankae.experiments.measure import fit_and_check
from rankae.experiments.tune import Found, search_parameters
from rankae.experiments.tuning_page import tuning_page
from rankae.methods import registry


def tune_and_refit(
    data: str,
    method: str,
    out: Path,
    *,
    trials: int,
    minutes: float | None = None,
    seed: int = 0,
    k: tuple[int, ...] = (1, 3, 5),
    tell: Callable[[int, float | None], None] | None = None,
    reading: dict[str, Any] | None = None,
) -> Found:
    """Search on 20 % of the training rows, write what was found, then train on all rows.

    reading : options of `load_dataset`, such as text_column.
    """
    train = load_dataset(data, "train", **reading or {})
    learn, check = fit_and_check(train)
    found = search_parameters(
        method,
        learn,
        check,
        trials=trials,
        minutes=minutes,
        seed=seed,
        k=k,
        study_file=out / "study.journal",
        tell=tell,
    )
    # A preset holds parameters and nothing else, so that `rankae train --preset` takes it as it is.
    preset = registry.METHODS[method].parameters | found.parameters
    write_files(
        out,
        {
            "preset.json": json.dumps(preset, indent=2) + "\n",
            "tuning.json": json.dumps({"method": method, "data": train.name, **asdict(found)}, indent=1) + "\n",
            "tuning.html": tuning_page(found, method, train.name),
        },
    )
    model = registry.seeded(registry.create(method, **found.parameters), seed)
    model.fit_dataset(train).save(out / "model", tuning={"validation": found.value, "trials": found.trials})
    return found
