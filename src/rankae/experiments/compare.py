"""Table 2 of the paper for any data and methods: scores, ranks, significant differences and costs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from rankae.data.writing import written
from rankae.errors import DataError
from rankae.experiments.cells import data_name
from rankae.experiments.plan import Contender, Running, Series, run_series
from rankae.experiments.summary import FAMILIES, Summary, summarise
from rankae.experiments.tables import READING, data_grid, grids, score_grid, to_csv
from rankae.report.grids import to_latex, to_markdown
from rankae.report.page import html_note, html_page, html_plots, html_table
from rankae.report.svg import Line, bar_chart, scatter_chart

TITLE = "Comparison of methods"
FAR_BELOW = 0.7  # of the best score


def compare(
    data: Sequence[str],
    methods: Sequence[Contender],
    running: Running,
    seeds: int = 1,
    tune_trials: int = 0,
    k: tuple[int, ...] = (1, 3, 5),
) -> Summary:
    """Run every method on every data set and write the report; finished cells are not run again."""
    refuse_same_names(data)
    plan = [Series(source, method, seeds, None, tune_trials, k) for source in data for method in methods]
    summary = summarise(run_series(plan, running), running.store)
    write_report(summary, running.folder, TITLE)
    return summary


def write_report(summary: Summary, folder: Path, title: str, more: Sequence[str] = ()) -> None:
    """table.md, table.csv, table.tex, results.json and report.html; `more` are sections for the page."""
    tables = grids(summary)
    plots = [
        html_plots("Accuracy against training time", accuracy_and_time(summary)),
        html_plots(f"Recall@{max(summary.k)} of frequent and rare labels", recall_by_frequency(summary)),
    ]
    by_data = [data_grid(summary, name) for name in summary.data]
    page = [html_note(READING), *more, *map(html_table, by_data), *plots, *map(html_table, tables)]
    write_files(
        folder,
        {
            "table.md": to_markdown(title, tables, READING),
            "table.csv": to_csv(summary),
            "table.tex": to_latex([score_grid(summary, family) for family in FAMILIES]),
            "results.json": json.dumps(summary.to_dict(), indent=1) + "\n",
            "report.html": html_page(title, page),
        },
    )


def write_files(folder: Path, texts: dict[str, str]) -> None:
    """Write each file atomically."""
    for name, text in texts.items():
        with written(folder / name) as stream:
            stream.write(text.encode())


def accuracy_and_time(summary: Summary) -> list[str]:
    """One plot per data set: the first measure of precision against CPU seconds of training.

    Methods far below the best are left out and named in the title, because they would compress the scale.
    """
    measure = f"P@{summary.k[0]}"
    plots = []
    for data in summary.data:
        points = [
            Line(method, [summary.costs[data, method]["train_cpu_seconds"]], [score.mean], style=i)
            for i, method in enumerate(summary.methods)
            if (score := summary.scores.get((data, method, measure))) is not None
        ]
        if not points:
            continue
        enough = FAR_BELOW * max(point.y[0] for point in points)
        low = [point.name for point in points if point.y[0] < enough]
        title = f"{data} (not shown, far below: {', '.join(low)})" if low else data
        near = [point for point in points if point.y[0] >= enough]
        plots.append(scatter_chart(near, title, "training, CPU seconds (logarithmic)", f"{measure}, percent"))
    return plots


def recall_by_frequency(summary: Summary) -> list[str]:
    """One plot per data set: recall of head, torso and tail labels; groups without test labels are left out."""
    plots = []
    for data in summary.data:
        results = {m: groups for m in summary.methods if (groups := summary.by_frequency.get((data, m))) is not None}
        if not results:
            continue
        shown = [name for name, figures in next(iter(results.values())).items() if figures["support"]]
        bars = [
            Line(method, [], [results[method][name]["recall"] for name in shown], style=i)
            for i, method in enumerate(summary.methods)
            if method in results
        ]
        plots.append(bar_chart(shown, bars, data, f"recall@{max(summary.k)}, percent"))
    return plots


def refuse_same_names(data: Sequence[str]) -> None:
    """Refuse data sets whose paths end in the same name, which tables show."""
    names = [data_name(source) for source in data]
    for source, name in zip(data, names, strict=True):
        if names.count(name) > 1:
            raise DataError(f"{source}: two data sets are called {name!r}; rename one of the folders")
