"""`rankae noise`: methods on labels that go missing or wrong, as in the paper's Figure 3."""

from __future__ import annotations

from typing import Annotated

import typer

from rankae.cli.experiment_options import (
    Out,
    RunningOptions,
    Seeds,
    Settings,
    TuneTrials,
    Untuned,
    names,
    print_summary,
    running_as,
    running_options,
)
from rankae.cli.experiment_options import rates as read_rates
from rankae.cli.options import Json, Places, places
from rankae.cli.reading_options import ReadingOptions, reading_options


@running_options
@reading_options("id_column")
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
    *,
    running: RunningOptions,
    json: Json = False,
    options: ReadingOptions,
) -> None:
    """Curves of precision as labels of 80 % of the training rows go missing or wrong; test rows stay clean.

    Writes report.html, tables and one SVG figure for each data set, kind and k to OUT; goes on where it stopped.
    """
    from rankae.experiments import noise as experiment
    from rankae.experiments.plan import contenders

    chosen = contenders(names(methods), settings or (), names(untuned))
    with running_as(out, running, options) as how:
        sources = data or ["tmdb-plots"]
        summary = experiment.noise(sources, chosen, how, names(kind), read_rates(rates), seeds, tune_trials, places(k))
        print_summary(summary, out, json)
