"""Every method on the data that suits it, beside the published scores.

    RANKAE_DATA=../shared/data python benchmarks/rivals.py [--data A B] [--methods X Y] [--seeds 3] [--jobs 1]
    python benchmarks/rivals.py --report-only

Writes docs/results/rivals.md from all finished cells of this plan. They are in .cells, which all reports
share: what one has measured, the others do not run again.
"""

from __future__ import annotations

import argparse
from typing import Any

from measuring.places import CELLS, RESULTS
from rankae.experiments.compare import write_files
from rankae.experiments.plan import Contender, Running, Series, finished_series, run_series
from rankae.experiments.summary import COSTS, Summary, summarise
from rankae.experiments.tables import reason_grid, score_text
from rankae.methods import registry
from rankae.report.grids import Grid, to_markdown

BY_FEATURES = tuple(name for name in registry.names() if registry.METHODS[name].reads == "features")
BY_TEXT = tuple(name for name in registry.names() if registry.METHODS[name].reads == "text")
LINEAR = ("parabel", "plt", "br")  # what a method on raw text must be set beside
METHODS_OF: dict[str, tuple[str, ...]] = {
    "bibtex": BY_FEATURES,
    "delicious": BY_FEATURES,
    "tmdb-plots": BY_TEXT + LINEAR,
    "debtags": BY_TEXT + LINEAR,
    "debdeps": ("fastxml", "pfastrexml", "sleec"),  # 36,468 labels, most of them rare: what propensities are for
}

# Settings that belong to a method on one data set: the authors' own where they published them, or tuned ones.
GLOVE = {"glove": "glove/glove.6B.100d.top50k.txt.xz"}  # under RANKAE_DATA, so that every machine means the same cell
SETTINGS: dict[tuple[str, str], dict[str, Any]] = {
    ("sleec", "bibtex"): {"learners": 1, "clusters": 1, "neighbours": 250, "dim": 100, "cost": 0.2, "knn": 25},
    ("sleec", "delicious"): {"learners": 1, "clusters": 1, "neighbours": 500, "dim": 100, "cost": 0.1, "knn": 70},
    ("pfastrexml", "delicious"): {"alpha": 0.95},  # tuned: docs/rivals.md
    ("fasttext", "tmdb-plots"): {"loss": "softmax", "learning_rate": 0.5, "epochs": 50},  # tuned: docs/rivals.md
    ("xml-cnn", "tmdb-plots"): GLOVE,
    ("xml-cnn", "debtags"): GLOVE,
    # A fifth of the trees, for the sake of time: both forests have the same.
    ("fastxml", "debdeps"): {"trees": 10},
    ("pfastrexml", "debdeps"): {"trees": 10},
}

# The XML repository's table of 2019-01-10 (shared/RIVALS.md); Delicious there is another split of the same rows.
PUBLISHED: dict[tuple[str, str], tuple[float, float, float]] = {
    ("sleec", "bibtex"): (65.08, 39.64, 28.87),
    ("fastxml", "bibtex"): (63.42, 39.23, 28.86),
    ("pfastrexml", "bibtex"): (63.46, 39.22, 29.14),
    ("pdsparse", "bibtex"): (61.29, 35.82, 25.74),
    ("parabel", "bibtex"): (64.53, 38.56, 27.94),
    ("rank-ae-paper", "delicious"): (69.26, 62.72, 57.63),
    ("sleec", "delicious"): (67.59, 61.38, 56.56),
    ("fastxml", "delicious"): (69.61, 64.12, 59.27),
    ("pfastrexml", "delicious"): (67.13, 62.33, 58.62),
    ("pdsparse", "delicious"): (51.82, 44.18, 38.95),
    ("parabel", "delicious"): (67.44, 61.83, 56.75),
    ("one-vs-rest", "delicious"): (65.02, 58.88, 53.28),
}

SHOWN_COSTS = [cost for cost in COSTS if cost[0] in ("train_cpu_seconds", "predict_ms_per_row", "model_megabytes")]
NOTE = """\
Written by `python benchmarks/rivals.py`. Test scores in percent, mean ± standard deviation over seeds where there are
several; bold is the best, and † marks a method that the test rows do not tell from it. Published scores are those of
the XML repository (revision of 2019-01-10); Delicious there is another split of the same rows, so a difference of a
point says little. Training is in CPU seconds, so that other work on the machine does not enter; prediction is by the
clock. What each method is and why it was set so: [rivals.md](../rivals.md)."""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names, known = list(METHODS_OF), registry.names()
    options.add_argument("--data", nargs="+", choices=names, default=names, metavar="NAME")
    options.add_argument("--methods", nargs="+", choices=known, default=known, metavar="NAME")
    options.add_argument("--seeds", type=int, default=3)
    options.add_argument("--jobs", type=int, default=1)
    options.add_argument("--cell-minutes", type=float, help="the most that one cell may take")
    options.add_argument("--report-only", action="store_true", help="write the tables from the cells there are")
    chosen = options.parse_args()
    whole = [
        Series(data, Contender(method, method, SETTINGS.get((method, data), {})), chosen.seeds)
        for data, methods in METHODS_OF.items()
        for method in methods
    ]
    running = Running(RESULTS / "rivals", jobs=chosen.jobs, minutes=chosen.cell_minutes, cells=CELLS)
    if not chosen.report_only:
        run_series([s for s in whole if s.data in chosen.data and s.contender.name in chosen.methods], running)
    summary = summarise(finished_series(whole, running.store), running.store)
    text = report(summary)
    write_files(RESULTS, {"rivals.md": text})
    print(text)


def report(summary: Summary) -> str:
    tables = [*(method_grid(summary, data) for data in summary.data), settings_grid(summary), reason_grid(summary)]
    return to_markdown("Every method, measured", [grid for grid in tables if grid.lines], NOTE)


def method_grid(summary: Summary, data: str) -> Grid:
    """One data set's methods, the best first, each beside what was published of it."""
    measures, tail = summary.measures("P"), summary.measures("PSP")
    ran = [method for method in summary.methods if (data, method) in summary.costs]
    ran.sort(key=lambda method: -summary.scores[data, method, measures[0]].mean)
    lines: list[list[str]] = []
    bold = set()
    for method in ran:
        scores = [summary.scores[data, method, measure] for measure in measures]
        bold |= {(len(lines), 2 + i) for i, score in enumerate(scores) if score.is_best}
        there = PUBLISHED.get((method, data), ())
        published = " / ".join(f"{value:.2f}" for value in there)
        gaps = " / ".join(f"{score.mean - value:+.2f}" for score, value in zip(scores, there, strict=False))
        weighed = " / ".join(f"{summary.scores[data, method, measure].mean:.2f}" for measure in tail)
        costs = [f"{summary.costs[data, method][name]:.{digits}f}" for name, _, digits in SHOWN_COSTS]
        seeds = summary.seeds(data, method)
        lines.append([method, str(seeds), *map(score_text, scores), published or "-", gaps or "-", weighed, *costs])
    headings = [heading for _, heading, _ in SHOWN_COSTS]
    head = ["method", "seeds", *measures, "published", "difference", " / ".join(tail), *headings]
    return Grid(data, head, lines, bold)


def settings_grid(summary: Summary) -> Grid:
    lines = [
        [data, method, ", ".join(f"{name} = {value}" for name, value in given.items())]
        for (data, method), given in summary.parameters.items()
        if given
    ]
    return Grid("Settings other than a method's defaults", ["data", "method", "settings"], lines, set())


if __name__ == "__main__":
    main()
