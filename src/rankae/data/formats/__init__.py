"""File formats: one module each, found by file name ending, imported when first needed.

A format's module has `read(path, **options) -> Dataset` and `batches(path, size, **options) -> Iterator[Dataset]`;
those with columns take `reading`, a `ReadingSettings`; those that can be written have `write(data, stream)` too.
"""

from __future__ import annotations

import importlib
import os
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from rankae.data.opening import open_data, without_compression
from rankae.data.reading import ReadingSettings
from rankae.errors import DataError


@dataclass(frozen=True)
class Format:
    """What there is to know of a format before its module is imported.

    name : what `--format` calls it. endings : of file names. module : under `rankae.data.formats`.
    columns : it has named columns (or fields), so that its readers take `reading` settings.
    """

    name: str
    endings: tuple[str, ...]
    module: str
    writes: bool = False
    columns: bool = False

    def load(self) -> ModuleType:
        return importlib.import_module(f"rankae.data.formats.{self.module}")

    def options(self, where: object, reading: ReadingSettings | None, options: dict[str, Any]) -> dict[str, Any]:
        """What this format's reader takes, of a model's reading settings and a user's options."""
        given = {name: value for name, value in options.items() if value is not None}
        of_columns = {name: given.pop(name) for name in list(given) if ReadingSettings.is_option(name)}
        if not self.columns:
            if of_columns:
                raise DataError(f"{where}: {self.name} has no option {next(iter(of_columns))!r}")
            return given
        return given | {"reading": (reading or ReadingSettings()).with_options(**of_columns)}


FORMATS = {
    f.name: f
    for f in (
        Format("xmc", (".txt", ".xmc"), "xmc", writes=True),
        Format("libsvm", (".svm", ".libsvm", ".svmlight"), "xmc"),
        Format("jsonl", (".jsonl", ".ndjson", ".json"), "jsonl", writes=True, columns=True),
        Format("csv", (".csv",), "delimited", columns=True),
        Format("tsv", (".tsv", ".tab"), "delimited", columns=True),
        Format("xlsx", (".xlsx",), "xlsx", columns=True),
        Format("fasttext", (".ft", ".fasttext"), "fasttext"),
        Format("npz", (".npz",), "npz", writes=True),
        Format("parquet", (".parquet", ".pq"), "parquet", columns=True),
        Format("store", (".store",), "store", writes=True),
        Format("lines", (".text", ".lines"), "lines"),
    )
}
ENDINGS = {ending: f for f in FORMATS.values() for ending in f.endings}


def format_of_name(path: str, format: str | None = None, otherwise: str | None = None) -> Format:
    """The format called `format`, or else the one that the ending of the file's name tells, or else `otherwise`."""
    if format is not None:
        if format not in FORMATS:
            raise DataError(f"there is no format {format!r}; known are {', '.join(FORMATS)}")
        return FORMATS[format]
    ending = os.path.splitext(without_compression(os.path.basename(path)))[1].lower()
    if ending not in ENDINGS and otherwise in FORMATS:
        return FORMATS[otherwise]
    if ending not in ENDINGS:
        raise DataError(f"{path}: cannot tell the format from the name; known endings are {', '.join(ENDINGS)}")
    return ENDINGS[ending]


def format_of(path: str, format: str | None = None, otherwise: str | None = None) -> Format:
    """As `format_of_name`, but a .txt file whose first line has fastText's labels is fastText's."""
    chosen = format_of_name(path, format, otherwise)
    if format is None and chosen.name == "xmc":
        with open_data(path) as stream:
            if b"__label__" in stream.readline(1 << 16):
                return FORMATS["fasttext"]
    return chosen
