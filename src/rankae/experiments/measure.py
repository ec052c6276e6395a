"""Measures one cell: reads the data, trains, predicts the test rows, and evaluates."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from rankae.base.ranker import LabelRanker
from rankae.data import load_dataset, split_rows, splits_of
from rankae.data.dataset import Dataset
from rankae.data.fingerprint import fingerprint
from rankae.data.noise import noisy_labels
from rankae.errors import RankaeError
from rankae.experiments.cells import Cell, Result, Store
from rankae.experiments.provenance import provenance
from rankae.methods import registry
from rankae.metrics import by_frequency, evaluate, inverse_propensities, judge, per_label, weigh

VALIDATION_SHARE = TEST_SHARE = 0.2
# Every method and seed sees the same validation rows.
SPLIT_SEED = 0


def run(cell: Cell, store: Store, alone: bool = False) -> Result:
    """Measure a cell and store the result; failures are results too, with a reason.

    alone : whether the process does nothing else, so that its peak memory is that of the cell.
    """
    rows = None
    try:
        if cell.trials:
            result = search(cell, store)
        else:
            result, rows = measure(cell)
            result["peak_megabytes"] = peak_megabytes() if alone else None
    except RankaeError as refusal:
        result = {"status": "cannot", "reason": str(refusal)}
    except MemoryError:
        result = {"status": "failed", "reason": "it ran out of memory"}
    except Exception as error:
        result = {"status": "failed", "reason": f"{type(error).__name__}: {error}"}
    store.keep(cell, result, rows)
    return result


def measure(cell: Cell) -> tuple[Result, dict[str, np.ndarray]]:
    """Train on all training rows (or, with noise, on the noisy 80 %), then rank the labels of the test rows."""
    train, test = train_and_test(cell.data, **cell.reading)
    clean_labels = train.labels
    clean: dict[str, Dataset] = {}
    if cell.noise:
        train, check = noisy_and_clean(train, cell)
        # For methods that take no trusted rows, `search` chooses parameters on these rows.
        clean = {"trusted": check} if registry.method_of(cell.method).trusted_choose else {}
    model = new_model(cell)
    wall, cpu = time.perf_counter(), time.process_time()
    model.fit_dataset(train, **clean)
    train_seconds, train_cpu_seconds = time.perf_counter() - wall, time.process_time() - cpu
    model.top_columns(test.take(slice(10)).rows, max(cell.k))  # warm up compilers and caches
    wall = time.perf_counter()
    columns, _ = model.top_columns(test.rows, max(cell.k))
    predict_seconds = time.perf_counter() - wall
    scores = evaluate(columns, test.labels, cell.k, train_labels=clean_labels)
    result = {
        "status": "done",
        "scores": {name: round(float(value), 4) for name, value in scores.items() if "@" in name},
        "by_frequency": by_frequency(per_label(columns, test.labels, max(cell.k)), clean_labels),
        "train_seconds": round(train_seconds, 3),
        "train_cpu_seconds": round(train_cpu_seconds, 3),
        "predict_ms_per_row": round(1000 * predict_seconds / len(test), 5),
        "model_megabytes": round(model_bytes(model) / 1e6, 4),
        "train_rows": len(train),
        "test_rows": len(test),
        "threads": int(os.environ.get("OMP_NUM_THREADS") or os.cpu_count() or 1),
        "choices": getattr(model, "choices_", {}),
        "provenance": provenance(fingerprint(train)),
    }
    return result, row_shares(columns, test, clean_labels, cell.k)


def search(cell: Cell, store: Store) -> Result:
    """Search parameters on the validation rows, which are clean even if the training rows are noisy."""
    from rankae.experiments.tune import search_parameters

    train, _ = train_and_test(cell.data, **cell.reading)
    learn, check = noisy_and_clean(train, cell) if cell.noise else fit_and_check(train)
    result = search_parameters(
        cell.method,
        learn,
        check,
        trials=cell.trials,
        fixed=cell.parameters,
        seed=cell.seed,
        k=cell.k,
        study_file=store.study_file(cell),
        check_chooses_epoch=cell.noise is not None and registry.method_of(cell.method).trusted_choose == "epoch",
    )
    return {"status": "done", "parameters": result.parameters, "validation": result.value, "trials": result.trials}


def train_and_test(source: str, **reading: Any) -> tuple[Dataset, Dataset]:
    """Both splits, with the same label and feature columns; without a test split, a fifth of the rows is held out.

    reading : options of `load_dataset`; test rows are read from the columns that the training rows have.
    """
    train = load_dataset(source, "train", **reading)
    if "test" in splits_of(source):
        alike = None if train.reading is None else train.reading.for_other_files()
        test = load_dataset(source, "test", reading=alike)
    else:
        keep, held = split_rows(len(train), TEST_SHARE, SPLIT_SEED)
        train, test = train.take(keep), train.take(held)
    test = test.aligned_to(train.label_names if train.label_names is not None else range(train.n_labels))
    return train, test.with_features(train.n_features)


def fit_and_check(train: Dataset) -> tuple[Dataset, Dataset]:
    """The paper's 80 % to learn from and 20 % to choose parameters on."""
    keep, held = split_rows(len(train), VALIDATION_SHARE, SPLIT_SEED)
    return train.take(keep), train.take(held)


def noisy_and_clean(train: Dataset, cell: Cell) -> tuple[Dataset, Dataset]:
    """As `fit_and_check`, with the cell's noise in the labels to learn from; each seed draws its own."""
    assert cell.noise is not None
    learn, check = fit_and_check(train)
    kind, rate = cell.noise
    return replace(learn, labels=noisy_labels(learn.labels, kind, rate, cell.seed)), check


def new_model(cell: Cell) -> LabelRanker:
    return registry.seeded(registry.create(cell.method, **cell.parameters), cell.seed)


def row_shares(
    columns: np.ndarray, test: Dataset, train_labels: np.ndarray, k: tuple[int, ...]
) -> dict[str, np.ndarray]:
    """The contribution of each test row to each measure, in percent: the mean over rows is the measure.

    PSP@k is a sum over rows divided by the best possible sum, which is the same for all methods, so it is a mean too.
    """
    judged = judge(columns, test.labels)
    weighed = weigh(judged, inverse_propensities(train_labels, test.n_labels), max(k))
    shares = {}
    for place in k:
        gained, best = weighed.psp(place)
        shares[f"P@{place}"] = judged.precision(place)
        shares[f"nDCG@{place}"] = judged.ndcg(place)
        shares[f"PSP@{place}"] = gained / best.mean() if best.any() else gained
    # float16 is precise enough, since only bootstrap intervals are computed from these values.
    return {name: (100 * values).astype(np.float16) for name, values in shares.items()}


def model_bytes(model: LabelRanker) -> int:
    with TemporaryDirectory() as folder:
        model.save(Path(folder) / "model")
        return sum(file.stat().st_size for file in (Path(folder) / "model").rglob("*") if file.is_file())


def peak_megabytes() -> float | None:
    """Peak memory of this process, including libraries and data; None if the system does not report it."""
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # kilobytes, but bytes on macOS
    return round(peak / (1e6 if sys.platform == "darwin" else 1e3), 1)
