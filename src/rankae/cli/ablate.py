"""`rankae ablate`: Rank-AE without one of its components, as in the paper's Figure 4."""

from __future__ import annotations

from rankae.cli.experiment_options import (
    DataSets,
    Out,
    RunningOptions,
    Seeds,
    TuneTrials,
    print_summary,
    running_as,
    running_options,
)
from rankae.cli.options import Json, Places, places
from rankae.cli.reading_options import ReadingOptions, reading_options


@running_options
@reading_options("id_column")
def ablate(
    data: DataSets,
    out: Out,
    seeds: Seeds = 1,
    tune_trials: TuneTrials = 0,
    k: Places = "1,3,5",
    *,
    running: RunningOptions,
    json: Json = False,
    options: ReadingOptions,
) -> None:
    """Take Rank-AE apart: the paper's model without attention or loss, the default recipe without each addition.

    Writes report.html, tables and two SVG figures for each data set to OUT; goes on where it stopped.
    """
    from rankae.experiments import ablate as experiment

    with running_as(out, running, options) as how:
        print_summary(experiment.ablate(data, how, seeds, tune_trials, places(k)), out, json)
