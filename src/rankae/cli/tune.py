"""`rankae tune`: search for parameters, then train with the best ones on everything."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rankae.cli.on_cluster import cell_runner
from rankae.cli.options import Cluster, Data, Json, Places, Quiet, be_quiet, places
from rankae.cli.reading_options import ReadingOptions, reading_options


@reading_options("id_column")
def tune(
    data: Data,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the study, the preset, the page and the model.")],
    method: Annotated[str, typer.Option(help="The method to tune.")] = "rank-ae",
    trials: Annotated[int, typer.Option(min=1, help="Trials in all; those of an earlier run count.")] = 30,
    minutes: Annotated[float | None, typer.Option(min=0, help="The most that this run may search.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the search and of the models.")] = 0,
    k: Places = "1,3,5",
    cluster: Cluster = None,
    quiet: Quiet = False,
    json: Json = False,
    *,
    options: ReadingOptions,
) -> None:
    """Search for parameters on 20 % of the training rows, then train on all of them.

    The defaults stay unless the best trial is ahead of them by more than chance.

    OUT gets preset.json (for `rankae train --preset`), tuning.json, tuning.html, the model, and the study, with which
    a search that was stopped goes on.
    """
    import json as json_module

    from rankae.experiments.tuned_model import tune_and_refit

    be_quiet(quiet)

    def tell(number: int, best: float | None) -> None:
        shown = "none yet" if best is None else f"{best:.2f}"
        typer.echo(f"trial {number} of {trials}: best mean of P@k so far {shown}", err=True)

    with cell_runner(cluster) as (remote, workers):
        search, gain = tune_and_refit(
            data,
            method,
            out,
            trials=trials,
            minutes=minutes,
            seed=seed,
            k=places(k),
            tell=None if json or quiet else tell,
            reading=options,
            remote=remote,
            jobs=workers,
        )
    if quiet and not json:
        return
    files = {name: str(out / name) for name in ("preset.json", "tuning.html", "model")}
    if json:
        shown = {"parameters": search.parameters, "validation": search.value, "trials": search.trials}
        shown["over_defaults"] = None if gain is None else gain.to_json()
        typer.echo(json_module.dumps(shown | {"importance": search.importance, "files": files}))
        return
    if gain is not None:
        typer.echo(f"best trial: {gain.describe()}")
    best = ", ".join(f"{name}={value}" for name, value in search.parameters.items()) or "the defaults"
    typer.echo(f"best of {search.trials} trials: {search.value:.2f} with {best}")
    typer.echo("\n".join(files.values()))
