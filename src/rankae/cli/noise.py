"""`rankae noise`: methods on labels that go missing or wrong, as in the paper's Figure 3."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from rankae.cli.experiment_options import (
    Again,
    CellMinutes,
    Cells,
    Isolate,
    Jobs,
    Json,
    Out,
    ReportOnly,
    Retry,
    Seeds,
    Settings,
    TuneTrials,
    Untuned,
    names,
    print_summary,
    running,
)
from rankae.cli.experiment_options import rates as read_rates
from rankae.cli.on_cluster import cell_runner
from rankae.cli.options import (
    Cluster,
    Delimiter,
    FormatName,
    LabelColumn,
    LabelSeparator,
    Places,
    TextColumn,
    given,
    places,
)


def noise(
    out: Out,
    data: Annotated[
        list[str] | None, typer.Argument(metavar="[DATA]...", help="Folders, files, known names; else tmdb-plots.")
    ] = None,
    kind: Annotated[
        str, typer.Option(help="missing; flip (either way); plain-flip or balanced-flip; commas between several.")
    ] = "missing",
    rates: Annotated[str, typer.Option(help="Shares of labels, such as 0,.2,.4 or 0,.1,...,.6.")] = "0,.1,...,.6",
    methods: Annotated[
        str, typer.Option(help="Names with commas between.")
    ] = "fastxml,pdsparse,xml-cnn,parabel,bce-ae,rank-ae",
    seeds: Seeds = 1,
    tune_trials: TuneTrials = 8,
    untuned: Untuned = "",
    k: Places = "1,3,5",
    settings: Settings = None,
    jobs: Jobs = 1,
    cluster: Cluster = None,
    isolate: Isolate = True,
    retry: Retry = False,
    again: Again = None,
    cell_minutes: CellMinutes = None,
    cells: Cells = None,
    report_only: ReportOnly = False,
    json: Json = False,
    format: FormatName = None,
    text_column: TextColumn = None,
    label_column: LabelColumn = None,
    label_separator: LabelSeparator = None,
    delimiter: Delimiter = None,
) -> None:
    """Curves of precision as labels of 80 % of the training rows go missing or wrong; test rows stay clean.

    Writes report.html, tables and one SVG figure for each data set, kind and k to OUT; goes on where it stopped.
    """
    from rankae.experiments import noise as experiment
    from rankae.experiments.plan import contenders

    chosen = contenders(names(methods), settings or (), names(untuned))
    reading = given(
        format=format,
        text_column=text_column,
        label_column=label_column,
        label_separator=label_separator,
        delimiter=delimiter,
    )
    with cell_runner(cluster) as (remote, workers):
        how = running(out, isolate, jobs, retry, again, cell_minutes, cells, report_only, reading)
        how = how if remote is None else replace(how, remote=remote, jobs=max(jobs, workers))
        sources = data or ["tmdb-plots"]
        summary = experiment.noise(sources, chosen, how, names(kind), read_rates(rates), seeds, tune_trials, places(k))
        print_summary(summary, out, json)
