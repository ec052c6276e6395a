"""What speed.py found, as Markdown, JSON and a picture, and which targets it meets."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rankae.experiments.compare import write_files
from rankae.report.svg import Line, bar_chart, scatter_chart, stacked

RIVALS = ("omikuji", "napkinxc")
MEASURES = ("P@1", "P@3", "P@5")
HEAD = """# Speed

Medians of {repeats} repeats, {threads} threads, every system on the same feature matrix; systems take turns within one
run, each training and each prediction in a process of its own. Written by `python benchmarks/speed.py`.

omikuji (Parabel) and napkinXC (PLT) run with their default settings and are timed from their cheapest entry:
omikuji's C functions on arrays at hand, without the writing and predicted of its input file, its weights made dense
beforehand; napkinXC's calls on CSR matrices, its model loaded beforehand. rankae's times are those of `fit` and
`top_columns`. Peak memory is the process's, with Python, libraries and data.

![accuracy against training time, and prediction time](speed.svg)
"""

Figures = dict[str, float]


def write(facts: dict[str, Any], folder: Path) -> str:
    """Write the three files; returns the Markdown."""
    found = {data: _medians(record["systems"]) for data, record in facts["data"].items()}
    targets = list(_targets(found))
    parts = [HEAD.format(**facts), _target_table(targets)]
    parts += [_table(data, facts["data"][data]["sizes"], systems) for data, systems in found.items()]
    parts.append(_profile(facts["data"]))
    if "machine" in facts:
        parts.append(_roofline(facts["machine"]))
    text = "\n".join(parts)
    facts = facts | {"targets": [dict(zip(("what", "measured", "target", "met"), t, strict=True)) for t in targets]}
    files = {"speed.md": text, "speed.json": json.dumps(facts, indent=1) + "\n", "speed.svg": _picture(found)}
    folder.mkdir(parents=True, exist_ok=True)
    write_files(folder, files)
    return text


def _medians(systems: dict[str, dict[str, list[Any]]]) -> dict[str, Figures]:
    return {
        name: {key: statistics.median(values) for key, values in record.items() if key != "parts"}
        for name, record in systems.items()
    }


def _targets(found: dict[str, dict[str, Figures]]) -> Iterator[tuple[str, float, float, bool]]:
    """(what, measured, at most, met): those of the targets for which there are figures."""
    for data, systems in found.items():
        ours = {name: figures for name, figures in systems.items() if name.startswith("rankae")}
        as_good = {name: f for name, f in ours.items() if all(f[m] >= systems["omikuji"][m] for m in MEASURES)}
        if data != "eurlex57k":
            # The quickest preset that ranks as well as Parabel; if none does, the best one, and the target is missed.
            name = (
                min(as_good, key=lambda n: as_good[n]["seconds"])
                if as_good
                else max(ours, key=lambda n: ours[n]["P@1"])
            )
            ratio = ours[name]["seconds"] / systems["omikuji"]["seconds"]
            what = f"{data}: training to Parabel's P@1, P@3 and P@5 ({name}) / omikuji's"
            yield what if as_good else f"{what}: not reached", ratio, 1.0, bool(as_good) and ratio <= 1
        for name, figures in ours.items():
            for rival, most in (("napkinxc", 0.5), ("omikuji", 0.1)):
                if rival == "omikuji" and data not in ("debdeps", "eurlex57k"):
                    continue
                ratio = figures["ms_per_row"] / systems[rival]["ms_per_row"]
                yield f"{data}: prediction a row ({name}) / {rival}'s", ratio, most, ratio <= most
            if data == "eurlex57k" and "text_row_ms" in figures:
                one = figures["text_row_ms"]
                yield f"{data}: one row from text to top 5 ({name}), ms", one, 1.0, one < 1
            if data == "debdeps":
                peak = figures["peak_megabytes"]
                yield f"{data}: peak memory of training ({name}), MB", peak, 2000.0, peak < 2000


def _target_table(targets: list[tuple[str, float, float, bool]]) -> str:
    lines = ["## Targets", "", "| | measured | target | |", "|---|---|---|---|"]
    lines += [
        f"| {what} | {value:.3g} | ≤ {most:g} | {'met' if met else '**missed**'} |"
        for what, value, most, met in targets
    ]
    return "\n".join([*lines, ""])


def _table(data: str, sizes: dict[str, int], systems: dict[str, Figures]) -> str:
    lines = [
        f"## {data}",
        "",
        "{rows:,} training rows, {test_rows:,} test rows, {labels:,} labels, {features:,} features.".format(**sizes),
        "",
        "| | P@1 / P@3 / P@5 | training, s | / omikuji | / napkinXC | prediction, ms a row | / omikuji | / napkinXC "
        "| one row, ms | peak, MB | model, MB |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, figures in systems.items():
        scores = " / ".join(f"{figures[m]:.2f}" for m in MEASURES)
        cells = [name, scores]
        for key in ("seconds", "ms_per_row"):
            ratios = (figures[key] / systems[rival][key] for rival in RIVALS)
            cells += [f"{figures[key]:.3g}", *(f"{ratio:.2f}" for ratio in ratios)]
        cells += [f"{figures['one_row_ms']:.2f}", *(f"{figures[f'{of}_megabytes']:.0f}" for of in ("peak", "model"))]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def _profile(data: dict[str, Any]) -> str:
    """Where rankae's training time goes: the parts that it times itself, medians over repeats."""
    lines = ["## Where training time goes", "", "| | | seconds | share |", "|---|---|---|---|"]
    for name, record in data.items():
        for system, runs in record["systems"].items():
            if not system.startswith("rankae"):
                continue
            whole = statistics.median(runs["seconds"])
            spent = {part: statistics.median(r.get(part, 0.0) for r in runs["parts"]) for part in runs["parts"][0]}
            spent["the rest"] = max(0.0, whole - sum(spent.values()))
            for part, seconds in sorted(spent.items(), key=lambda item: -item[1]):
                lines.append(f"| {name}, {system} | {part} | {seconds:.2f} | {100 * seconds / whole:.0f} % |")
    return "\n".join([*lines, ""])


def _roofline(machine: dict[str, Any]) -> str:
    lines = [
        "## What the hot kernels reach",
        "",
        f"A large matrix product runs at {machine['gemm_gflops']:.0f} GFLOP/s here, copying at "
        f"{machine['copy_gb_s']:.1f} GB/s ({machine['threads']} threads). Shares count the work and the bytes that a "
        "kernel cannot avoid; what is gathered from the cache counts as moved.",
        "",
        "| kernel | ms | / plain | of GEMM | of memory |",
        "|---|---|---|---|---|",
    ]
    lines += [
        f"| {k['kernel']} | {k['ours ms']} | {k['ratio']} | {k['of GEMM %']} % | {k['of memory %']} % |"
        for k in machine["kernels"]
    ]
    return "\n".join([*lines, ""])


def _picture(found: dict[str, dict[str, Figures]]) -> str:
    """Accuracy against training time for each data set, then prediction times beside omikuji's."""
    plots = [
        scatter_chart(
            [Line(name, [f["seconds"]], [f["P@1"]], style=i) for i, (name, f) in enumerate(systems.items())],
            data,
            "training time, seconds (logarithmic)",
            "P@1, percent",
        )
        for data, systems in found.items()
    ]
    names = list(next(iter(found.values())))
    bars = [
        Line(n, [], [s[n]["ms_per_row"] / s["omikuji"]["ms_per_row"] for s in found.values()], style=i)
        for i, n in enumerate(names)
    ]
    plots.append(bar_chart(list(found), bars, "Prediction time a row beside omikuji's", "omikuji = 1"))
    return stacked(plots)
