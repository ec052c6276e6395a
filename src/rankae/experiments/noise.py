"""Figure 3 of the paper: methods on training labels of which a rising share is missing, or missing and wrong.

Noise is put on 80 % of the training rows; the other 20 % stay clean and only choose parameters; test rows are clean.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np

from rankae.errors import RankaeError
from rankae.experiments.cells import Store, data_name
from rankae.experiments.compare import refuse_same_names, write_files
from rankae.experiments.differences import paired_bootstrap
from rankae.experiments.plan import Contender, Outcome, Running, Series, noisy_name, run_series
from rankae.experiments.summary import Summary, mean_rows, summarise
from rankae.experiments.tables import READING, reason_grid, score_grid, to_csv
from rankae.report.grids import Grid, to_latex, to_markdown
from rankae.report.page import html_note, html_page, html_plots, html_table
from rankae.report.svg import Line, line_chart

TITLE = "Label noise"
KINDS = {
    "missing": "missing labels",
    "flip": "missing and wrong labels",
    "plain-flip": "missing and wrong labels, plain flips",
    "balanced-flip": "missing and wrong labels, as many in as out",
}
SETTING = (
    "Noise on 80 % of the training rows; the other 20 % are clean and choose parameters (rank-ae takes them as its "
    "trusted rows, to which it also fits its stacker and a correction of D; other methods are tuned on them, and the "
    "paper's networks train as long as suits them); test rows are clean. Missing: each label is dropped with "
    "the rate. Flip: labels go either way; where there are more than 50 labels, as many wrong ones come in as right "
    "ones go out. Plain flips above 50 % say the opposite of the truth, so a method falls to the floor there unless "
    "trusted rows tell it. Where points lost stand in brackets, bold loses least, and † marks what the test rows do "
    "not tell from it. "
)


def noise(
    data: Sequence[str],
    methods: Sequence[Contender],
    running: Running,
    kinds: Sequence[str] = ("missing",),
    rates: Sequence[float] = (0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6),
    seeds: int = 1,
    tune_trials: int = 0,
    k: tuple[int, ...] = (1, 3, 5),
) -> Summary:
    """Run every method at every rate; write tables, curves and figures."""
    refuse_same_names(data)
    for kind in kinds:
        if kind not in KINDS:
            raise RankaeError(f"there is no noise {kind!r}; choose one of {', '.join(KINDS)}")
    for rate in rates:
        if not 0 <= rate <= 1:
            raise RankaeError(f"the noise rate {rate:g} does not lie between 0 and 1")
    plan = [
        Series(source, method, seeds, (kind, float(rate)), tune_trials, k)
        for source in data
        for kind in kinds
        for rate in rates
        for method in methods
    ]
    outcomes = run_series(plan, running)
    summary = summarise(outcomes, running.store)
    names = [data_name(source) for source in data]
    plots = {
        (name, kind, place): curves(summary, name, kind, rates, f"P@{place}")
        for name in names
        for kind in kinds
        for place in k
    }
    tables = [losses(outcomes, running.store, rates, f"P@{place}") for place in k]
    tables += [score_grid(summary, family) for family in ("P", "nDCG")]
    tables.append(reason_grid(summary))
    tables = [grid for grid in tables if grid.lines]
    sections = [html_note(SETTING + READING), html_plots("Precision as noise rises", list(plots.values()))]
    figures = {f"{name}.{kind}.P{place}.svg": plot for (name, kind, place), plot in plots.items()}
    results = summary.to_dict() | {"rates": list(rates), "kinds": list(kinds)}
    write_files(
        running.folder,
        {
            "table.md": to_markdown(TITLE, tables, SETTING + READING),
            "table.csv": to_csv(summary),
            "table.tex": to_latex([score_grid(summary, "P")]),
            "results.json": json.dumps(results, indent=1) + "\n",
            "report.html": html_page(TITLE, [*sections, *map(html_table, tables)]),
            **figures,
        },
    )
    return summary


def curves(summary: Summary, name: str, kind: str, rates: Sequence[float], measure: str) -> str:
    """A curve for each method, with a band of one standard deviation over seeds."""
    lines = []
    for i, method in enumerate(summary.methods):
        labels = {rate: noisy_name(name, kind, rate) for rate in rates}
        scores = {
            rate: score for rate, label in labels.items() if (score := summary.scores.get((label, method, measure)))
        }
        if scores:
            means, spreads = [s.mean for s in scores.values()], [s.std or 0.0 for s in scores.values()]
            low, high = ([m + side * s for m, s in zip(means, spreads, strict=True)] for side in (-1, 1))
            lines.append(Line(method, list(scores), means, low, high, style=i))
    return line_chart(lines, f"{name}: {KINDS[kind]}", "noise rate", f"{measure} on clean test rows, percent", True)


def losses(outcomes: Sequence[Outcome], store: Store, rates: Sequence[float], measure: str) -> Grid:
    """Each method's precision and, in brackets, the points it loses against itself without noise; the least is bold.

    A method that the test rows do not tell from the one that loses least has a † (see `differences`).
    """
    clean = min(rates, default=0.0)
    done = {(o.series.label, o.series.contender.name): o for o in outcomes if o.results}
    methods = list(dict.fromkeys(o.series.contender.name for o in outcomes))
    settings = dict.fromkeys((data_name(o.series.data), *o.series.noise) for o in outcomes if o.series.noise)
    lines: list[list[str]] = []
    bold = set()
    for name, kind, rate in settings:
        before, after = (
            {m: outcome for m in methods if (outcome := done.get((noisy_name(name, kind, one), m))) is not None}
            for one in (clean, rate)
        )
        shown = {m: f"{_mean(outcome, measure):.2f}" for m, outcome in after.items()}
        lost = {m: _mean(before[m], measure) - _mean(after[m], measure) for m in after if m in before}
        if rate != clean and lost:
            rows = {m: mean_rows(before[m], measure, store) - mean_rows(after[m], measure, store) for m in lost}
            least = min(lost, key=lambda m: lost[m])
            others = [m for m in lost if m != least]
            gaps = dict(zip(others, paired_bootstrap(rows[least], [rows[m] for m in others]), strict=True))
            marks = {m: " †" if m in gaps and not gaps[m].real else "" for m in lost}
            shown |= {m: f"{shown[m]} ({lost[m]:.2f}{marks[m]})" for m in lost}
            bold.add((len(lines), 2 + methods.index(least)))
        if shown:
            lines.append([f"{name}, {kind}", f"{100 * rate:g} %", *(shown.get(m, "-") for m in methods)])
    title = f"{measure} (and points of it lost against a rate of {100 * clean:g} %)"
    return Grid(title, ["data", "rate", *methods], lines, bold)


def _mean(outcome: Outcome, measure: str) -> float:
    return float(np.mean([result["scores"][measure] for result in outcome.results]))
