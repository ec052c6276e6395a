"""`rankae index`: an approximate index of labels for a model with very many of them."""

from __future__ import annotations

import json as json_module
from typing import Annotated

import typer

from rankae.cli.options import Json, Model, Quiet, Threads, be_quiet, use_threads
from rankae.errors import RankaeError

_MOST_ROWS = 2000  # of DATA, that recall is measured on


def index(
    model: Model,
    check: Annotated[
        str | None, typer.Option(metavar="DATA", help="Measure recall on test rows of this data, not on made-up ones.")
    ] = None,
    k: Annotated[int, typer.Option("-k", "--k", min=1, help="Of how many best labels.")] = 40,
    recall: Annotated[float, typer.Option(help="The share of them that the index is to find.")] = 0.95,
    exact: Annotated[bool, typer.Option("--exact", help="Remove the index: look at all labels again.")] = False,
    quiet: Quiet = False,
    json: Json = False,
    threads: Threads = None,
) -> None:
    """Build an approximate index of a model's labels, save it in the model and print its recall.

    It pays from about 100,000 labels on: the two times that are printed tell. What it finds is scored exactly.
    """
    use_threads(threads)
    be_quiet(quiet)
    from rankae.cli.measuring import matched
    from rankae.data import load_dataset
    from rankae.methods.rank_ae import RankAE
    from rankae.model_file import read_model
    from rankae.report.terminal import print_table

    ranker = RankAE.load(model)
    facts = read_model(model).facts
    if exact:
        ranker.drop_index()
        ranker.save(model, **facts)
        if json:
            typer.echo(json_module.dumps({"index": None}))
        return
    rows = None
    if check is not None:
        data = matched(ranker, load_dataset(check, "test", reading=ranker.reading_))
        if len(data) == 0:
            raise RankaeError(f"{check} has no test rows to measure recall on")
        rows = data.rows[:_MOST_ROWS]
    figures = ranker.build_index(rows, k=k, recall=recall, threads=threads or 1)
    ranker.save(model, **facts | {"index": figures})
    if json:
        typer.echo(json_module.dumps(figures))
        return
    cells = [[str(name), f"{value:,}"] for name, value in figures.items()]
    print_table(f"index of {len(ranker.classes_):,} labels", ["", "value"], cells)
