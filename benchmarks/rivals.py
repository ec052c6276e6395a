"""Train every method on the data that suits it and set its scores beside the published ones.

    python benchmarks/rivals.py                          all cells that are not finished yet
    python benchmarks/rivals.py --only sleec,fastxml     some methods
    python benchmarks/rivals.py --only knn --data bibtex --seeds 3 --again

A cell is one method on one data set with one seed. Finished cells are kept in docs/results/rivals.json and are not run
again; docs/results/rivals.md is written anew from it after every cell, so the work can be stopped at any time.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rankae import load_dataset, rivals
from rankae.metrics import evaluate

RESULTS = Path(__file__).parent.parent / "docs" / "results"
BY_FEATURES = tuple(name for name in rivals.names() if rivals.METHODS[name].reads == "features")
BY_TEXT = tuple(name for name in rivals.names() if rivals.METHODS[name].reads == "text")
LINEAR = ("parabel", "plt", "br")  # what a method on raw text must be set beside
METHODS_OF: dict[str, tuple[str, ...]] = {
    "bibtex": BY_FEATURES,
    "delicious": BY_FEATURES,
    "tmdb-plots": BY_TEXT + LINEAR,
    "debtags": BY_TEXT + LINEAR,
    "debdeps": ("fastxml", "pfastrexml", "sleec"),  # 36,468 labels, most of them rare: what propensities are for
}
MEASURES = ("P@1", "P@3", "P@5")
COSTS = ("train_cpu_seconds", "predict_cpu_ms_per_row", "model_megabytes")
PROPENSITY_SCORED = ("PSP@1", "PSP@3", "PSP@5")
KEPT = (*MEASURES, "nDCG@5", *PROPENSITY_SCORED)

# The XML repository's table of 2019-01-10 (shared/RIVALS.md); Delicious there is another split of the same rows.
PUBLISHED: dict[str, dict[str, tuple[float, float, float]]] = {
    "bibtex": {
        "sleec": (65.08, 39.64, 28.87),
        "fastxml": (63.42, 39.23, 28.86),
        "pfastrexml": (63.46, 39.22, 29.14),
        "pdsparse": (61.29, 35.82, 25.74),
        "parabel": (64.53, 38.56, 27.94),
    },
    "delicious": {
        "rank-ae-paper": (69.26, 62.72, 57.63),
        "sleec": (67.59, 61.38, 56.56),
        "fastxml": (69.61, 64.12, 59.27),
        "pfastrexml": (67.13, 62.33, 58.62),
        "pdsparse": (51.82, 44.18, 38.95),
        "parabel": (67.44, 61.83, 56.75),
        "one-vs-rest": (65.02, 58.88, 53.28),
    },
}

# Settings that belong to a method on one data set: the authors' own where they published them, or tuned ones.
SETTINGS: dict[tuple[str, str], dict[str, Any]] = {
    ("sleec", "bibtex"): {"learners": 1, "clusters": 1, "neighbours": 250, "dim": 100, "cost": 0.2, "knn": 25},
    ("sleec", "delicious"): {"learners": 1, "clusters": 1, "neighbours": 500, "dim": 100, "cost": 0.1, "knn": 70},
    ("fasttext", "tmdb-plots"): {"loss": "softmax", "learning_rate": 0.5, "epochs": 50},  # tuned: docs/rivals.md
    ("xml-cnn", "tmdb-plots"): {"glove": "glove/glove.6B.100d.top50k.txt.xz"},
    ("xml-cnn", "debtags"): {"glove": "glove/glove.6B.100d.top50k.txt.xz"},
    # A fifth of the trees, for the sake of time: both forests have the same.
    ("fastxml", "debdeps"): {"trees": 10},
    ("pfastrexml", "debdeps"): {"trees": 10},
}


def main() -> None:
    wanted = _arguments()
    cells = _read()
    for data in wanted.data:
        for method in wanted.only:
            if method not in METHODS_OF[data]:
                continue
            for seed in range(wanted.seeds if _is_random(method) else 1):
                key = f"{method}/{data}/{seed}"
                if key in cells and not wanted.again:
                    continue
                print(f"{key} ...", flush=True, file=sys.stderr)
                # Read again: another run may have finished other cells meanwhile.
                cell = run_cell(method, data, seed)
                cells = {**_read(), key: cell}
                _write(cells)
                print(key, " ".join(f"{name} {cells[key]['scores'][name]:.2f}" for name in MEASURES), flush=True)
    _write(cells)
    print((RESULTS / "rivals.md").read_text())


def run_cell(method: str, data: str, seed: int) -> dict[str, Any]:
    """Train and measure once; times are of the CPU, so that other work on the machine does not enter."""
    train, test = load_dataset(data, "train"), load_dataset(data, "test")
    if train.label_names is not None:
        test = test.aligned_to(train.label_names)
    settings = SETTINGS.get((method, data), {})
    at_home = {"glove": os.path.join(os.environ["RANKAE_DATA"], settings["glove"])} if "glove" in settings else {}
    model = rivals.create(method, **settings | at_home)
    if _is_random(method):
        model.set_params(random_state=seed)
    start = time.process_time()
    model.fit_dataset(train)
    train_seconds = time.process_time() - start
    model.top_columns(test.take(range(10)).rows, 5)  # compilers and caches warm up outside the clock
    start = time.process_time()
    columns, _ = model.top_columns(test.rows, 5)
    predict_seconds = time.process_time() - start
    with TemporaryDirectory() as folder:
        model.save(Path(folder) / "model")
        size = sum(file.stat().st_size for file in (Path(folder) / "model").rglob("*") if file.is_file())
    measured = evaluate(columns, test.labels, train_labels=train.labels)
    return {
        "method": method,
        "data": data,
        "seed": seed,
        "settings": settings,
        "scores": {name: round(float(measured[name]), 3) for name in KEPT},
        "train_cpu_seconds": round(train_seconds, 2),
        "predict_cpu_ms_per_row": round(1000 * predict_seconds / len(test), 4),
        "model_megabytes": round(size / 1e6, 3),
    }


def table(cells: list[dict[str, Any]], data: str) -> str:
    """One data set's methods, mean over seeds, the best first."""
    by_method: dict[str, list[dict[str, Any]]] = {}
    for cell in cells:
        by_method.setdefault(cell["method"], []).append(cell)
    ordered = sorted(by_method.values(), key=lambda runs: -_mean(runs, "P@1"))
    lines = [
        f"## {data}",
        "",
        "| method | seeds | P@1 / P@3 / P@5 | published | difference | PSP@1 / 3 / 5 "
        "| train CPU s | predict CPU ms/row | MB |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for runs in ordered:
        method = runs[0]["method"]
        scores = [_mean(runs, name) for name in MEASURES]
        published = PUBLISHED.get(data, {}).get(method)
        beside = ("-", "-")
        if published is not None:
            gaps = (f"{score - there:+.2f}" for score, there in zip(scores, published, strict=True))
            beside = (" / ".join(f"{there:.2f}" for there in published), " / ".join(gaps))
        costs = [statistics.mean(run[name] for run in runs) for name in COSTS]
        tail = " / ".join(f"{_mean(runs, name):.2f}" for name in PROPENSITY_SCORED)
        lines.append(
            f"| {method} | {len(runs)} | {' / '.join(f'{score:.2f}' for score in scores)} | {beside[0]} | {beside[1]} "
            f"| {tail} | {costs[0]:.1f} | {costs[1]:.3f} | {costs[2]:.1f} |"
        )
    return "\n".join(lines) + "\n"


def _mean(runs: list[dict[str, Any]], measure: str) -> float:
    return statistics.mean(run["scores"][measure] for run in runs)


def _is_random(method: str) -> bool:
    return "random_state" in rivals.class_of(method)._get_param_names()


def _read() -> dict[str, dict[str, Any]]:
    path = RESULTS / "rivals.json"
    return json.loads(path.read_text()) if path.exists() else {}


def _write(cells: dict[str, dict[str, Any]]) -> None:
    """Both files, each written aside and then renamed, so that a stop in between harms nothing."""
    found = [data for data in METHODS_OF if any(cell["data"] == data for cell in cells.values())]
    tables = [table([cell for cell in cells.values() if cell["data"] == data], data) for data in found]
    head = (
        "# Every method, measured\n\n"
        "Written by `python benchmarks/rivals.py`; mean over seeds, scores in percent. Published scores are those of\n"
        "the XML repository (revision of 2019-01-10); Delicious there is another split of the same rows, so\n"
        "a difference of a point says little. What each method is and why it was set so: [rivals.md](../rivals.md).\n"
        "Times are CPU times of the process, so that other work on the machine does not enter.\n"
    )
    RESULTS.mkdir(parents=True, exist_ok=True)
    texts = {"rivals.json": json.dumps(cells, indent=1, sort_keys=True) + "\n", "rivals.md": "\n".join([head, *tables])}
    for name, text in texts.items():
        aside = RESULTS / f".{name}.{os.getpid()}"
        aside.write_text(text)
        aside.replace(RESULTS / name)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(rivals.names()), help="methods, with commas between")
    parser.add_argument("--data", default=",".join(METHODS_OF), help="data sets, with commas between")
    parser.add_argument("--seeds", type=int, default=1, help="seeds of each random method")
    parser.add_argument("--again", action="store_true", help="run finished cells again")
    wanted = parser.parse_args()
    wanted.only, wanted.data = wanted.only.split(","), wanted.data.split(",")
    if unknown := sorted(set(wanted.only) - set(rivals.names())):
        parser.error(f"there is no method {unknown[0]}")
    if unknown := sorted(set(wanted.data) - set(METHODS_OF)):
        parser.error(f"there is no data set {unknown[0]} here; choose of {', '.join(METHODS_OF)}")
    return wanted


if __name__ == "__main__":
    main()
