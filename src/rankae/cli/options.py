"""Options that several commands share."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

Data = Annotated[str, typer.Argument(metavar="DATA", help="A folder, a file, or the name of a known data set.")]
Model = Annotated[Path, typer.Argument(metavar="DIR", help="The model's folder.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")]
Threads = Annotated[int | None, typer.Option(min=1, help="Threads to compute with; by default as many as cores.")]

FormatName = Annotated[str | None, typer.Option("--format", help="The input's format, if its name does not tell.")]
TextColumn = Annotated[str | None, typer.Option(help="CSV, JSONL, Parquet: where the text is; title,body joins two.")]
LabelColumn = Annotated[str | None, typer.Option(help="CSV, JSONL, Parquet: where the labels are.")]
LabelSeparator = Annotated[str | None, typer.Option(help='CSV: what stands between labels; "list" for ["a", "b"].')]
Delimiter = Annotated[str | None, typer.Option(help="CSV: what stands between cells, if the header does not tell.")]
IdColumn = Annotated[str | None, typer.Option(help="CSV, JSONL, Parquet: what a row is called.")]


def given(**options: str | None) -> dict[str, Any]:
    """Only the options that were given: a format's reader has its own defaults for the others."""
    return {name: value for name, value in options.items() if value is not None}


def use_threads(threads: int | None) -> None:
    """Have every library keep to `threads`; they read the environment when they are first imported."""
    if threads is not None:
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
            os.environ[name] = str(threads)
