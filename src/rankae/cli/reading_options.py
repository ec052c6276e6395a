"""Options that say how files are read: `options` of a command holds those that were given, for `load_dataset`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, TypeAlias

import typer

from rankae.cli.grouped import Command, grouped
from rankae.cli.options import given

ReadingOptions: TypeAlias = dict[str, Any]

_OPTIONS: dict[str, Any] = {
    "format": Annotated[str | None, typer.Option("--format", help="The input's format, if its name does not tell.")],
    "data_format": Annotated[
        str | None, typer.Option("--data-format", help="DATA's format, if its name does not tell.")
    ],
    "text_column": Annotated[
        str | None, typer.Option(help="CSV, JSONL, Parquet: where the text is; title,body joins two.")
    ],
    "label_column": Annotated[
        str | None, typer.Option(help="CSV, JSONL, Parquet: where the labels are; a,b,c: columns of 0 and 1.")
    ],
    "label_separator": Annotated[
        str | None, typer.Option(help='CSV: what stands between labels; "list" for ["a", "b"].')
    ],
    "delimiter": Annotated[
        str | None, typer.Option(help="CSV: what stands between cells, if the header does not tell.")
    ],
    "encoding": Annotated[
        str | None, typer.Option(help="CSV, JSONL: the file's characters, such as windows-1252, if not UTF-8.")
    ],
    "id_column": Annotated[str | None, typer.Option(help="CSV, JSONL, Parquet: what a row is called.")],
}


def reading_options(*without: str, data_format: bool = False) -> Callable[[Command], Command]:
    """A command's parameter `options` becomes --format, --text-column and so on.

    without : options that mean nothing to the command.
    data_format : name the format's option so, where --format is that of the output.
    """
    left_out = {"format" if data_format else "data_format", *without}
    group = {name: (annotation, None) for name, annotation in _OPTIONS.items() if name not in left_out}
    return grouped("options", group, _given)


def _given(options: dict[str, Any]) -> ReadingOptions:
    """Those that were given: a format's reader has its own defaults for the others."""
    return given(**{name.removeprefix("data_"): value for name, value in options.items()})
