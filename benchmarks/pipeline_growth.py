"""How the whole pipeline grows with the size of the data: reading, training, saving, loading and predicting.

    python benchmarks/pipeline_growth.py [--like amazon-670k] [--scales 0.05,0.1] [--methods rank-ae:fast,parabel]
        [--threads 1] [--test-rows 5000] [--out FOLDER]

Data in the published shape at each scale; a process for each method and size. Writes pipeline.json and pipeline.md:
time of training, most memory, size of the model, time to load it and to predict a row, P@k, the plan's estimates beside
them, and the exponents in the number of labels. What pipeline.json has is not measured again.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from measuring.process import alone, limit_threads

RESULTS = Path(__file__).parent.parent / "docs" / "results" / "scale"
SHOWN = ("train_seconds", "peak_megabytes", "model_megabytes", "predict_ms", "load_seconds")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--like", default="amazon-670k")
    options.add_argument("--scales", default="0.05,0.1")
    options.add_argument("--methods", default="rank-ae:fast,parabel")
    options.add_argument("--threads", type=int, default=1)
    options.add_argument("--test-rows", type=int, default=5000)
    options.add_argument("--out", type=Path, default=RESULTS)
    chosen = options.parse_args()
    limit_threads(chosen.threads)
    path = chosen.out / "pipeline.json"
    measured: list[dict[str, Any]] = json.loads(path.read_text()) if path.exists() else []
    for scale in map(float, chosen.scales.split(",")):
        about = {"like": chosen.like, "scale": scale, "threads": chosen.threads}
        missing = [
            m
            for m in chosen.methods.split(",")
            if not any((about | {"method": m}).items() <= r.items() for r in measured)
        ]
        if not missing:
            continue
        with TemporaryDirectory(prefix="rankae-pipeline-") as folder:
            alone(_generate, Path(folder) / "data", chosen.like, scale, chosen.test_rows)
            for method in missing:
                found = alone(_measured, Path(folder), method, chosen.threads)
                measured.append(about | {"method": method} | found)
                chosen.out.mkdir(parents=True, exist_ok=True)
                path.write_text(json.dumps(measured, indent=1) + "\n")
                (chosen.out / "pipeline.md").write_text(_table(measured))
    print(_table(measured))


def _generate(folder: Path, like: str, scale: float, test_rows: int) -> None:
    from dataclasses import replace

    from rankae.data.generate_like import write_like
    from rankae.data.shapes import shape_of

    shape = shape_of(like).scaled(scale)
    write_like(replace(shape, test_rows=min(shape.test_rows, test_rows)), folder)


def _measured(folder: Path, method: str, threads: int) -> dict[str, Any]:
    from rankae.data import load_dataset
    from rankae.experiments.measure import peak_megabytes
    from rankae.experiments.provenance import commit
    from rankae.methods import create, load
    from rankae.metrics import evaluate

    began, used = time.perf_counter(), time.process_time()
    train = load_dataset(str(folder / "data"), "train")
    name, _, preset = method.partition(":")
    settings: dict[str, Any] = {"preset": preset, "threads": threads} if preset else {}
    model = create(name, **settings | ({"n_jobs": threads} if name in ("parabel", "bonsai") else {}))
    planned = model.plan(train.features, train.labels).as_json() if preset else None
    model.fit_dataset(train)
    fitted, cpu = time.perf_counter() - began, time.process_time() - used
    place = folder / method.replace(":", "-")
    model.save(place)
    saved = time.perf_counter() - began
    peak = peak_megabytes()
    used = time.process_time()
    again = load(place)
    loaded = time.process_time() - used
    test = load_dataset(str(folder / "data"), "test")
    again.top_columns(test.features[:300], 5)  # prepares and compiles what the first call does
    began, used = time.perf_counter(), time.process_time()
    columns, _ = again.top_columns(test.features, 5)
    seconds, predict_cpu = time.perf_counter() - began, time.process_time() - used
    scores = evaluate(columns, test.labels, (1, 3, 5))
    return {
        "commit": commit(), "rows": len(train), "labels": train.n_labels, "features": train.n_features,
        "train_seconds": fitted, "train_cpu": cpu, "with_saving": saved, "peak_megabytes": peak, "load_seconds": loaded,
        "predict_ms": 1e3 * seconds / len(test), "predict_cpu_ms": 1e3 * predict_cpu / len(test),
        "model_megabytes": sum(file.stat().st_size for file in place.iterdir()) / 1e6,
        **{f"P@{k}": float(scores[f"P@{k}"]) for k in (1, 3, 5)},
        "steps": {k: round(v, 2) for k, v in getattr(model, "seconds_", {}).items()},
        "plan": planned and {k: planned[k] for k in ("seconds", "peak_bytes", "model_bytes")},
    }  # fmt: skip


def _table(measured: list[dict[str, Any]]) -> str:
    out = [
        "# Growth of the whole pipeline",
        "",
        "Written by `python benchmarks/pipeline_growth.py`; times are CPU seconds of one thread, which a busy machine",
        "changes less than the clock. Code: " + ", ".join(sorted({str(m.get("commit")) for m in measured})) + ".",
        "",
        "| data | rows | labels | method | training, s (plan) | peak, MB (plan) | model, MB (plan) | load, s "
        "| predict, ms per row | P@1 / P@3 / P@5 |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for m in measured:
        plan = m["plan"]

        def beside(key: str, unit: float, plan: dict[str, float] | None = plan) -> str:
            return f" ({plan[key] / unit:,.0f})" if plan else ""

        loading = "" if m["load_seconds"] is None else f"{m['load_seconds']:.1f}"  # null: by the clock, not comparable
        out.append(
            f"| {m['like']} x {m['scale']:g} | {m['rows']:,} | {m['labels']:,} | {m['method']} "
            f"| {m['train_cpu']:,.0f}{beside('seconds', 1)} | {m['peak_megabytes']:,.0f}{beside('peak_bytes', 1e6)} "
            f"| {m['model_megabytes']:,.0f}{beside('model_bytes', 1e6)} | {loading} "
            f"| {m['predict_cpu_ms']:.2f} "
            f"| {m['P@1']:.1f} / {m['P@3']:.1f} / {m['P@5']:.1f} |"
        )
    out += [
        "",
        "| method | " + " | ".join(f"exponent of {name}" for name in ("training", "peak", "model", "predict")) + " |",
    ]
    out.append("|---|---|---|---|---|")
    for method in dict.fromkeys(m["method"] for m in measured):
        own = [m for m in measured if m["method"] == method]
        if len(own) > 1:
            labels = np.log([m["labels"] for m in own])
            slopes = [
                np.polyfit(labels, np.log([m[key] for m in own]), 1)[0]
                for key in ("train_cpu", "peak_megabytes", "model_megabytes", "predict_cpu_ms")
            ]
            out.append(f"| {method} | " + " | ".join(f"{slope:.2f}" for slope in slopes) + " |")
    return "\n".join([*out, *_at_full_size(measured), ""])


def _at_full_size(measured: list[dict[str, Any]]) -> list[str]:
    """The two largest runs of each method, continued to the published number of labels by a power law and by a straight
    line: a power law is too low where a part of the cost is the same at every size."""
    from rankae.data.shapes import shape_of

    out: list[str] = []
    for like, method in dict.fromkeys((m["like"], m["method"]) for m in measured):
        largest = sorted((m for m in measured if (m["like"], m["method"]) == (like, method)), key=lambda m: m["labels"])
        full = shape_of(like).labels
        if len(largest) < 2 or largest[-1]["labels"] >= full:  # the latter is measured
            continue
        one, two = largest[-2:]
        power = np.log(full / two["labels"]) / np.log(two["labels"] / one["labels"])
        line = (full - two["labels"]) / (two["labels"] - one["labels"])
        ranges = []
        for key in ("train_cpu", "peak_megabytes", "model_megabytes"):
            both = sorted((two[key] * (two[key] / one[key]) ** power, two[key] + line * (two[key] - one[key])))
            ranges.append(" to ".join(f"{value:,.0f}" for value in both))
        out.append(f"| {like} | {method} | {full:,} | {' | '.join(ranges)} |")
    if not out:
        return []
    head = "| shape | method | labels | training, s | peak, MB | model, MB |"
    return [
        "",
        "**Extrapolated**, not measured, from the two largest runs, by a power law and by a straight line:",
        "",
        head,
        "|---|---|---|---|---|---|",
        *out,
    ]


if __name__ == "__main__":
    main()
