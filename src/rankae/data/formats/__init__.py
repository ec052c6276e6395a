"""File formats: one module each, found by file name ending, imported when first needed.

A format's module has `read(path, **options) -> Dataset` and `batches(path, size, **options) -> Iterator[Dataset]`;
those that can be written have `write(data, stream)` too.
"""

from __future__ import annotations

import importlib
import os
from dataclasses import dataclass
from types import ModuleType

from rankae.data.opening import open_data, without_compression
from rankae.errors import DataError


@dataclass(frozen=True)
class Format:
    """name : what `--format` calls it. endings : of file names. module : under `rankae.data.formats`."""

    name: str
    endings: tuple[str, ...]
    module: str
    writes: bool = False

    def load(self) -> ModuleType:
        return importlib.import_module(f"rankae.data.formats.{self.module}")


FORMATS = {
    f.name: f
    for f in (
        Format("xmc", (".txt", ".xmc"), "xmc", writes=True),
        Format("libsvm", (".svm", ".libsvm", ".svmlight"), "xmc"),
        Format("jsonl", (".jsonl", ".ndjson", ".json"), "jsonl", writes=True),
        Format("csv", (".csv",), "delimited"),
        Format("tsv", (".tsv", ".tab"), "delimited"),
        Format("fasttext", (".ft", ".fasttext"), "fasttext"),
        Format("npz", (".npz",), "npz", writes=True),
        Format("parquet", (".parquet", ".pq"), "parquet"),
        Format("lines", (".text", ".lines"), "lines"),
    )
}
ENDINGS = {ending: f for f in FORMATS.values() for ending in f.endings}


def format_of_name(path: str, format: str | None = None) -> Format:
    """The format called `format`, or else the one that the ending of the file's name tells."""
    if format is not None:
        if format not in FORMATS:
            raise DataError(f"there is no format {format!r}; known are {', '.join(FORMATS)}")
        return FORMATS[format]
    ending = os.path.splitext(without_compression(os.path.basename(path)))[1].lower()
    if ending not in ENDINGS:
        raise DataError(f"{path}: cannot tell the format from the name; known endings are {', '.join(ENDINGS)}")
    return ENDINGS[ending]


def format_of(path: str, format: str | None = None) -> Format:
    """As `format_of_name`, but a .txt file whose first line has fastText's labels is fastText's."""
    chosen = format_of_name(path, format)
    if format is None and chosen.name == "xmc":
        with open_data(path) as stream:
            if b"__label__" in stream.readline(1 << 16):
                return FORMATS["fasttext"]
    return chosen
