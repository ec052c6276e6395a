"""The page of a search for parameters: importance of parameters, progress, and every trial."""

from __future__ import annotations

from itertools import accumulate

from rankae.experiments.beyond_chance import Gain
from rankae.experiments.tune import SearchResult
from rankae.report.grids import Grid
from rankae.report.page import html_note, html_page, html_plots, html_table
from rankae.report.svg import Line, bar_chart, line_chart


def tuning_page(search: SearchResult, method: str, data: str, gain: Gain | None = None) -> str:
    done = [trial for trial in search.history if trial["state"] == "complete"]
    plots = []
    if search.importance:
        shares = [100 * share for share in search.importance.values()]
        title = "Share of the differences between trials that a parameter explains"
        plots.append(bar_chart(list(search.importance), [Line("importance", [], shares)], title, "percent"))
    if done:
        numbers, values = [t["trial"] + 1 for t in done], [t["value"] for t in done]
        lines = [Line("trial", numbers, values), Line("best so far", numbers, list(accumulate(values, max)), style=1)]
        plots.append(line_chart(lines, "Validation score, trial by trial", "trial", "mean of P@k, percent"))
    names = sorted({name for trial in search.history for name in trial["parameters"]})
    lines_of_table = [
        [
            str(trial["trial"] + 1),
            trial["state"],
            "-" if trial["value"] is None else f"{trial['value']:.2f}",
            "-" if trial["seconds"] is None else f"{trial['seconds']:.1f}",
            *(_shown(trial["parameters"].get(name, "default")) for name in names),
        ]
        for trial in search.history
    ]
    grid = Grid("Trials", ["trial", "state", "mean of P@k", "seconds", *names], lines_of_table, set())
    best = ", ".join(f"{name} = {_shown(value)}" for name, value in search.parameters.items()) or "the defaults"
    note = f"Best of {search.trials} trials: {search.value:.2f} with {best}. Scores are those of the held-out 20 %."
    if gain is not None:
        note += f" The best trial had {gain.describe()}."
    return html_page(f"Tuning {method} on {data}", [html_note(note), html_plots("", plots), html_table(grid)])


def _shown(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
