"""How the cost of the paper's training grows with the number of labels, exact and with a shortlist.

    python benchmarks/growth.py [--labels 10000,30000,...] [--shortlist 4096] [--threads 2] [--steps 7] [--seeds 2]
        [--scoring-threads 1] [--resume]

Generated data; the rows are as many for every number of labels, then a fifth of the labels. For each: the time of a
training step (batch 256), the peak of memory, the time to predict a row; a process for each. The exponent is fitted
from 30,000 labels up. Then what the shortlist costs in accuracy. Writes docs/results/growth.md, .json and .svg; what
is measured is in growth.json at once, and --resume goes on from there.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from measuring.matrices import Matrices, prepare
from measuring.places import RESULTS
from measuring.process import alone, limit_threads

FIXED_ROWS, BATCH, PREDICTED_ROWS, SCORED_ROWS = 20_000, 256, 256, 5_000
FIT_FROM = 30_000
TARGETS = {"exact": 1.0, "shortlist": 0.7}
MOST_LOST = 0.5  # points of P@1


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--labels", default="10000,30000,100000,300000,1000000")
    options.add_argument("--shortlist", type=int, default=4096)
    options.add_argument("--threads", type=int, default=2, help="of the measurements of cost")
    options.add_argument("--scoring-threads", type=int, default=1, help="of the comparison of accuracy")
    options.add_argument("--steps", type=int, default=7)
    options.add_argument("--seeds", type=int, default=2, help="of the comparison of accuracy; 0 leaves it out")
    options.add_argument("--epochs", type=int, default=16, help="of the comparison of accuracy")
    known = "generated,eurlex57k-bow" if os.environ.get("RANKAE_DATA") else "generated"
    options.add_argument("--scored", default=known, help="the data of the comparison of accuracy")
    options.add_argument("--rows", type=int, help="keep at most this many rows, for a quick look")
    options.add_argument("--out", type=Path, default=RESULTS)
    options.add_argument("--resume", action="store_true", help="measure nothing again that growth.json has")
    chosen = options.parse_args()
    kept = _kept(chosen)
    measured, accuracy = kept["measured"], kept["accuracy"]
    limit_threads(chosen.threads)
    done = {(m["labels"], m["growing"], m["kind"]) for m in measured}
    for labels in map(int, chosen.labels.split(",")):
        for growing in (False, True):
            rows = max(BATCH, labels // 5) if growing else FIXED_ROWS
            if {(labels, growing, kind) for kind in TARGETS} <= done:
                continue
            with TemporaryDirectory(prefix="rankae-growth-") as folder:
                alone(_generate, Path(folder), labels, min(rows, chosen.rows or rows))
                for shortlist in (0, chosen.shortlist):
                    kind = "shortlist" if shortlist else "exact"
                    if (labels, growing, kind) in done:
                        continue
                    figures = alone(_cost, Path(folder), shortlist, chosen.steps, chosen.threads)
                    measured.append({"labels": labels, "growing": growing, "kind": kind} | figures)
                    _write(_facts(chosen, measured, accuracy), chosen.out)
                    print(json.dumps(measured[-1]), file=sys.stderr, flush=True)
    limit_threads(chosen.scoring_threads)
    for pair in _accuracies(chosen, {a["data"] for a in accuracy}):
        accuracy += pair
        _write(_facts(chosen, measured, accuracy), chosen.out)
    print(_write(_facts(chosen, measured, accuracy), chosen.out))


def _kept(chosen: argparse.Namespace) -> dict[str, Any]:
    """What growth.json has, if it is to be kept and was measured in the same way."""
    path = chosen.out / "growth.json"
    if not chosen.resume or not path.exists():
        return {"measured": [], "accuracy": []}
    kept = json.loads(path.read_text())
    for name in ("threads", "shortlist"):
        if kept[name] != getattr(chosen, name):
            raise SystemExit(f"{path} was measured with --{name} {kept[name]}; give the same, or leave out --resume")
    asked = {"seeds": chosen.seeds, "epochs": chosen.epochs, "threads": chosen.scoring_threads}
    kept["accuracy"] = [a for a in kept["accuracy"] if asked.items() <= a.items()]
    return kept


def _facts(chosen: argparse.Namespace, measured: list[dict[str, Any]], accuracy: list[Any]) -> dict[str, Any]:
    settings = {"threads": chosen.threads, "shortlist": chosen.shortlist}
    return settings | {"measured": measured, "exponents": _exponents(measured), "accuracy": accuracy}


def _generate(folder: Path, labels: int, rows: int, test_rows: int = PREDICTED_ROWS) -> None:
    from rankae.data.generate import make_dataset

    train, test = make_dataset(rows=rows, labels=labels, test_rows=test_rows, text=False)
    Matrices(train.features, train.labels, test.features, test.labels).write(folder)


def _cost(folder: Path, shortlist: int, steps: int, threads: int) -> dict[str, float]:
    """Median seconds of a step, most megabytes held, and milliseconds to predict a row."""
    import torch

    from rankae.experiments.measure import peak_megabytes
    from rankae.paper.initial import initialise
    from rankae.paper.joint import JointTraining
    from rankae.paper.rank_network import RankNetwork
    from rankae.paper.settings import JointSettings

    torch.set_num_threads(threads)
    data = Matrices.read(folder)
    settings = JointSettings(batch=BATCH, shortlist=shortlist, epochs=10**6)
    network = RankNetwork(settings.architecture(data.train_x.shape[1], data.train_y.shape[1]))
    initialise(network, settings.seed)
    training = JointTraining(network, settings, steps_per_epoch=1)
    seconds = []
    for step in range(2 + steps):
        part = np.arange(step * BATCH, (step + 1) * BATCH) % data.train_x.shape[0]
        seconds.append(training.epoch_over(data.train_x[part], data.train_y[part])["seconds"])
    peak = peak_megabytes()
    trained = training.result()
    trained.top(data.test_x[:1], 5)  # folds D and loads the kernels, once
    began = time.perf_counter()
    trained.top(data.test_x, 5)
    predicting = 1e3 * (time.perf_counter() - began) / data.test_x.shape[0]
    return {"step_seconds": statistics.median(seconds[2:]), "peak_megabytes": peak or 0.0, "ms_per_row": predicting}


def _exponents(measured: list[dict[str, Any]]) -> dict[str, float]:
    """The slope of log time against log labels; where one size is all there is, no slope."""
    found = {}
    for kind in TARGETS:
        for growing in (False, True):
            points = [m for m in measured if m["kind"] == kind and m["growing"] == growing and m["labels"] >= FIT_FROM]
            if len(points) > 1:
                x, y = (np.log([p[name] for p in points]) for name in ("labels", "step_seconds"))
                found[f"{kind}, rows {'growing' if growing else 'fixed'}"] = float(np.polyfit(x, y, 1)[0])
    return found


def _accuracies(chosen: argparse.Namespace, done: set[str]) -> Iterator[list[dict[str, Any]]]:
    """P@1 of the preset `paper`, exact and with a shortlist, on generated data and, if it is there, on real data."""
    settings = {"seeds": chosen.seeds, "epochs": chosen.epochs, "threads": chosen.scoring_threads}
    for name in chosen.scored.split(",") if chosen.seeds else ():
        if name in done:
            continue
        shortlist = chosen.shortlist if name == "generated" else chosen.shortlist // 4  # eurlex57k has 4,000 labels
        pair = []
        with TemporaryDirectory(prefix="rankae-growth-") as folder:
            if name == "generated":
                alone(_generate, Path(folder), FIT_FROM, min(FIXED_ROWS, chosen.rows or FIXED_ROWS), SCORED_ROWS)
            else:
                alone(prepare, name, Path(folder), chosen.rows)
            for size in (0, shortlist):
                runs = [alone(_accuracy, Path(folder), size, chosen.epochs, seed) for seed in range(chosen.seeds)]
                means = {key: statistics.mean(run[key] for run in runs) for key in runs[0]}
                pair.append({"data": name, "shortlist": size} | settings | means)
                print(json.dumps(pair[-1]), file=sys.stderr, flush=True)
        yield pair


def _accuracy(folder: Path, shortlist: int, epochs: int, seed: int) -> dict[str, float]:
    from rankae import RankAE
    from rankae.metrics import evaluate

    data = Matrices.read(folder)
    model = RankAE("paper", shortlist=shortlist, epochs=epochs, random_state=seed).fit(data.train_x, data.train_y)
    scores = evaluate(model.top_columns(data.test_x, 5)[0], data.test_y, (1, 3, 5))
    seconds = sum(epoch["seconds"] for epoch in model.history_)
    return {
        "labels": data.train_y.shape[1],
        "seconds": seconds,
        **{f"P@{k}": float(scores[f"P@{k}"]) for k in (1, 3, 5)},
    }


def _write(facts: dict[str, Any], folder: Path) -> str:
    from rankae.experiments.compare import write_files
    from rankae.report.svg import Line, line_chart, stacked

    def lines(figure: str, scale: float = 1.0) -> list[Line]:
        drawn = []
        for style, (kind, growing) in enumerate((k, g) for k in TARGETS for g in (False, True)):
            points = [m for m in facts["measured"] if m["kind"] == kind and m["growing"] == growing]
            name = f"{kind}, rows {'growing' if growing else 'fixed'}"
            slope = (
                f" (L^{facts['exponents'][name]:.2f})"
                if figure == "step_seconds" and name in facts["exponents"]
                else ""
            )
            drawn.append(
                Line(name + slope, [p["labels"] for p in points], [scale * p[figure] for p in points], style=style)
            )
        return drawn

    shown = (
        ("step_seconds", "Time of a training step", "milliseconds", 1e3),
        ("peak_megabytes", "Peak memory", "MB", 1.0),
        ("ms_per_row", "Time to predict a row", "milliseconds", 1.0),
    )
    plots = [line_chart(lines(f, scale), title, "labels", unit, logarithmic=True) for f, title, unit, scale in shown]
    text = _text(facts)
    folder.mkdir(parents=True, exist_ok=True)
    files = {"growth.md": text, "growth.json": json.dumps(facts, indent=1) + "\n", "growth.svg": stacked(plots)}
    write_files(folder, files)
    return text


def _text(facts: dict[str, Any]) -> str:
    out = [
        "# Growth with the number of labels",
        "",
        f"The joint training of the preset `paper` on generated data, batch {BATCH}, {facts['threads']} threads; the "
        f"shortlist looks at {facts['shortlist']:,} labels a step. Written by `python benchmarks/growth.py`.",
        "",
        "![time, memory and prediction against labels](growth.svg)",
        "",
        f"| exponent of step time, from {FIT_FROM:,} labels | measured | target | |",
        "|---|---|---|---|",
    ]
    for name, slope in facts["exponents"].items():
        most = TARGETS[name.partition(",")[0]]
        out.append(f"| {name} | {slope:.2f} | ≤ {most} | {'met' if slope <= most else '**missed**'} |")
    out += ["", "| labels | rows | | step, ms | peak, MB | prediction, ms a row |", "|---|---|---|---|---|---|"]
    for m in facts["measured"]:
        rows = "growing" if m["growing"] else "fixed"
        costs = f"{1e3 * m['step_seconds']:.1f} | {m['peak_megabytes']:.0f} | {m['ms_per_row']:.3f}"
        out.append(f"| {m['labels']:,} | {rows} | {m['kind']} | {costs} |")
    if facts["accuracy"]:
        how = facts["accuracy"][0]
        out += [
            "",
            f"What the shortlist costs in accuracy: {how['epochs']} epochs with it and without, mean of {how['seeds']} "
            f"seed(s), {how['threads']} thread(s); at most {MOST_LOST} points of P@1 may be lost. The two differ in "
            "more than the labels that a step looks at: with a shortlist D starts at zero and Adam steps only the rows "
            "that a step has looked at. What is gained or lost is the sum of these.",
            "",
            "| data | labels | shortlist | P@1 / P@3 / P@5 | P@1 lost | training, s |",
            "|---|---|---|---|---|---|",
        ]
    for exact, short in zip(facts["accuracy"][::2], facts["accuracy"][1::2], strict=True):
        lost = exact["P@1"] - short["P@1"]
        for run, note in ((exact, ""), (short, f"{lost:.2f}, {'met' if lost < MOST_LOST else '**missed**'}")):
            scores = " / ".join(f"{run[f'P@{k}']:.2f}" for k in (1, 3, 5))
            size = f"{run['shortlist']:,}" if run["shortlist"] else "all"
            out.append(f"| {run['data']} | {run['labels']:,.0f} | {size} | {scores} | {note} | {run['seconds']:.1f} |")
    return "\n".join([*out, ""])


if __name__ == "__main__":
    main()
