"""`rankae compare`: methods on data sets, as in the paper's Table 2."""

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
from rankae.cli.options import Json, Places, places
from rankae.cli.reading_options import ReadingOptions, reading_options
from rankae.errors import RankaeError


@running_options
@reading_options("id_column")
def compare(
    data: Annotated[
        list[str] | None,
        typer.Argument(metavar="DATA...", help="Folders, files, or names of known data sets.", show_default=False),
    ] = None,
    *,
    out: Out,
    protocol: Annotated[
        str | None, typer.Option(help="paper: its methods, the same search for each, and published figures beside.")
    ] = None,
    methods: Annotated[
        str | None, typer.Option(help="Names with commas between, your_module:YourMethod too; by default all.")
    ] = None,
    seeds: Seeds = 1,
    tune_trials: TuneTrials = 0,
    untuned: Untuned = "",
    k: Places = "1,3,5",
    settings: Settings = None,
    running: RunningOptions,
    json: Json = False,
    options: ReadingOptions,
) -> None:
    """Compare methods: scores with deviations, ranks, which differences are real, training and prediction cost.

    Writes table.md, table.csv, table.tex, results.json and report.html to OUT. Stop it at any time: started again, it
    goes on where it stopped.
    """
    from rankae.experiments import compare as experiment
    from rankae.experiments.plan import contenders
    from rankae.experiments.protocol import protocol_of
    from rankae.methods import registry

    usual = None if protocol is None else protocol_of(protocol)
    if not data and usual is None:
        raise RankaeError("name the data to compare on, or a --protocol that has its own; see `rankae compare --help`")
    data = list(data or usual.data)  # type: ignore[union-attr]
    if usual is not None and not tune_trials:
        tune_trials = usual.trials
    by_default = registry.names() if usual is None else usual.methods
    chosen = contenders(by_default if methods is None else names(methods), settings or (), names(untuned))
    with running_as(out, running, options) as how:
        summary = experiment.compare(data, chosen, how, seeds, tune_trials, places(k))
        print_summary(summary, out, json)
