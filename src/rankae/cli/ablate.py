"""`rankae ablate`: Rank-AE without one of its components, as in the paper's Figure 4."""

from __future__ import annotations

from dataclasses import replace

from rankae.cli.experiment_options import (
    Again,
    CellMinutes,
    Cells,
    DataSets,
    Isolate,
    Jobs,
    Json,
    Out,
    ReportOnly,
    Retry,
    Seeds,
    TuneTrials,
    print_summary,
    running,
)
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


def ablate(
    data: DataSets,
    out: Out,
    seeds: Seeds = 1,
    tune_trials: TuneTrials = 0,
    k: Places = "1,3,5",
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
    """Take Rank-AE apart: the paper's model without attention or loss, the default recipe without each addition.

    Writes report.html, tables and two SVG figures for each data set to OUT; goes on where it stopped.
    """
    from rankae.experiments import ablate as experiment

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
        print_summary(experiment.ablate(data, how, seeds, tune_trials, places(k)), out, json)
