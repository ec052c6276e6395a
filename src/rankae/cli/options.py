"""Options that several commands share."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from rankae.errors import RankaeError

Data = Annotated[str, typer.Argument(metavar="DATA", help="A folder, a file, or the name of a known data set.")]
Model = Annotated[Path, typer.Argument(metavar="DIR", help="The model's folder.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")]
Threads = Annotated[
    int | None, typer.Option(min=1, max=1024, help="Threads to compute with; by default as many as cores.")
]
Places = Annotated[str, typer.Option("--k", "-k", help="The places at which to measure.")]
_MOST_PLACES = 1000

Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print nothing but mistakes, warnings and what --json asks for.")
]


def given(**options: str | None) -> dict[str, Any]:
    """The options that are not None, since the readers of formats have defaults of their own."""
    return {name: value for name, value in options.items() if value is not None}


def places(text: str) -> tuple[int, ...]:
    """ "1,3,5" -> (1, 3, 5)."""
    try:
        values = sorted({int(place) for place in text.split(",")})
    except ValueError:
        values = []
    if not values or values[0] < 1 or values[-1] > _MOST_PLACES:
        raise RankaeError(
            f"--k takes numbers from 1 to {_MOST_PLACES:,} with commas between, such as 1,3,5, but was given {text!r}"
        )
    return tuple(values)


def be_quiet(quiet: bool) -> None:
    """No bars, if the user wants none."""
    from rankae import progress

    progress.be_quiet(quiet)


def use_threads(threads: int | None) -> None:
    """Limit every library to `threads` by environment variables, which they read when they are first imported."""
    if threads is not None:
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
            os.environ[name] = str(threads)


Cluster = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS|local:N", help="Share the work among N workers here, or those of a Dask scheduler."),
]
