"""`rankae tune`: the search, its page and preset, and the model trained on all rows with the best parameters."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from rankae.data import Dataset, load_dataset
from rankae.data.fingerprint import fingerprint
from rankae.experiments.beyond_chance import Gain, gain_over_defaults
from rankae.experiments.compare import write_files
from rankae.experiments.measure import fit_and_check
from rankae.experiments.tune import SearchResult, mean_precision, search_parameters, share_of
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
    remote: Callable[..., Any] | None = None,
    jobs: int = 1,
) -> tuple[SearchResult, Gain | None]:
    """Search on 20 % of the training rows, write the result, then train on all rows.

    The defaults are kept unless the best trial is better by more than chance explains (see `beyond_chance`).

    reading : options of `load_dataset`, such as text_column.
    remote, jobs : function that calls another one on a cluster and waits for the result, and the number of workers.
    """
    measure = None
    if remote is not None:
        source = str(Path(data).resolve()) if Path(data).exists() else data
        measure = partial(remote, precision_elsewhere, source, tuple(sorted((reading or {}).items())), method, seed, k)
    train = load_dataset(data, "train", **reading or {})
    learn, check = fit_and_check(train)
    search = search_parameters(
        method,
        learn,
        check,
        trials=trials,
        minutes=minutes,
        seed=seed,
        k=k,
        study_file=out / "study.journal",
        tell=tell,
        measure=measure,
        jobs=jobs,
    )
    gain = gain_over_defaults(method, search, learn, check, seed, k)
    if gain is not None and not gain.is_real:
        search = replace(search, parameters={}, value=search.value - gain.gain)
    # A preset holds only parameters, so that `rankae train --preset` can read it.
    preset = registry.method_of(method).parameters | search.parameters
    facts_of_search = {"method": method, "data": train.name, "over_defaults": None if gain is None else gain.to_json()}
    write_files(
        out,
        {
            "preset.json": json.dumps(preset, indent=2) + "\n",
            "tuning.json": json.dumps(facts_of_search | asdict(search), indent=1) + "\n",
            "tuning.html": tuning_page(search, method, train.name, gain),
        },
    )
    model = registry.seeded(registry.create(method, **search.parameters), seed)
    facts = {"data": train.name, "rows": len(train), "fingerprint": fingerprint(train)}
    tuning = {"validation": search.value, "trials": search.trials}
    model.fit_dataset(train).save(out / "model", **facts, tuning=tuning)
    return search, gain


def precision_elsewhere(
    data: str,
    reading: tuple[tuple[str, Any], ...],
    method: str,
    seed: int,
    k: tuple[int, ...],
    parameters: dict[str, Any],
    share: float,
) -> float:
    """The precision of a trial, on a worker that reads the data itself, once."""
    learn, check = _split(data, reading)
    return mean_precision(method, parameters, share_of(learn, share, seed), check, seed, k, False)


@lru_cache(maxsize=1)
def _split(data: str, reading: tuple[tuple[str, Any], ...]) -> tuple[Dataset, Dataset]:
    learn, check = fit_and_check(load_dataset(data, "train", **dict(reading)))
    return learn, check.aligned_to(learn.label_names if learn.label_names is not None else range(learn.n_labels))
