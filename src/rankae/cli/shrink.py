"""`rankae shrink`: a smaller copy of a model, and what that costs."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import Annotated, Any

import typer

from rankae.cli.options import Json, Model, Quiet, Threads, be_quiet, use_threads
from rankae.errors import RankaeError

_PLACES = (1, 3, 5)


def shrink(
    model: Model,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The folder of the smaller model.")],
    tables: Annotated[str, typer.Option(help="float16, int8 or int4: what is larger becomes so.")] = "float16",
    check: Annotated[
        str | None, typer.Option(metavar="DATA", help="Measure what it costs on test rows of this data.")
    ] = None,
    quiet: Quiet = False,
    json: Json = False,
    threads: Threads = None,
) -> None:
    """Write a copy of a model with smaller tables, and print its size and its accuracy beside the model's own."""
    use_threads(threads)
    be_quiet(quiet)
    from rankae.cli.measuring import measure
    from rankae.data import load_dataset
    from rankae.methods.rank_ae import RankAE
    from rankae.model_file import check_place, read_model
    from rankae.report.terminal import print_table

    check_place(out)
    if out.resolve() == model.resolve():
        raise RankaeError(f"{out} is the model itself; write the smaller one to another folder")
    before = RankAE.load(model)
    small = before.shrunk(tables)
    small.save(out, **read_model(model).facts)
    found: dict[str, dict[str, Any]] = {"before": {"bytes": _size(model)}, "after": {"bytes": _size(out)}}
    if check is not None:
        data = load_dataset(check, "test", reading=before.reading_)
        for name, ranker in (("before", before), ("after", RankAE.load(out))):
            figures = measure(ranker, data, _PLACES)
            found[name] |= {f"P@{k}": figures[f"P@{k}"] for k in _PLACES}
    if json:
        typer.echo(json_module.dumps({"tables": tables} | found))
        return
    columns = ["MB", *(name for name in found["before"] if name != "bytes")]
    cells = [
        [name, f"{figures['bytes'] / 1e6:.1f}", *(f"{figures[c]:.2f}" for c in columns[1:])]
        for name, figures in found.items()
    ]
    print_table(f"tables of {tables}", ["", *columns], cells)


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.iterdir())
