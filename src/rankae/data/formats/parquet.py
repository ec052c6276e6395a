"""Parquet (extra `parquet`): a text column and a column with a list of labels, or one string of them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from rankae.data.dataset import Dataset
from rankae.data.label_cells import labels_in, separator_among
from rankae.data.opening import FREE_BYTES, MOST_BYTES, MOST_RATIO
from rankae.data.reading import ReadingSettings
from rankae.data.records import Record, pieces, whole
from rankae.errors import DataError, MissingExtra

_BATCH_BYTES = 1 << 28


def read(path: str, reading: ReadingSettings | None = None) -> Dataset:
    """Read a whole file; see `rankae.data.reading` for how columns are found."""
    settings, rows = _opened(path, reading or ReadingSettings(), True)
    everything = list(rows)
    cells = [row[0].get(settings.label_column or "") for row in everything]
    if settings.label_separator is None and any(isinstance(cell, str) for cell in cells):
        settings = replace(settings, label_separator=separator_among(c for c in cells if isinstance(c, str)) or ",")
    return whole(_records(everything, settings, True), path, reading=settings)


def batches(
    path: str, size: int, reading: ReadingSettings | None = None, labels_needed: bool = False
) -> Iterator[Dataset]:
    """Pieces of `size` rows; labels may be absent."""
    settings, rows = _opened(path, reading or ReadingSettings(), labels_needed)
    return pieces(_records(rows, settings, labels_needed), size, path, reading=settings)


def _opened(
    path: str, reading: ReadingSettings, labels_needed: bool
) -> tuple[ReadingSettings, Iterator[tuple[dict[str, Any], str]]]:
    """What the file's schema says, and its rows, each with its place for messages."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra(f"{path}: Parquet", "parquet") from None

    def unreadable(error: Exception) -> DataError:
        lines = str(error).splitlines() or [type(error).__name__]
        return DataError(f"{path}: not a readable Parquet file ({lines[0]})")

    try:
        file = pyarrow.parquet.ParquetFile(path)
    except FileNotFoundError:
        raise DataError(f"{path}: there is no such file") from None
    except (pyarrow.ArrowException, OSError) as error:
        raise unreadable(error) from None
    settings = reading.found_in(file.schema_arrow.names, path, labels_needed)
    label = () if settings.label_column is None else (settings.label_column,)
    columns = list(dict.fromkeys((*settings.text_columns, *label, *settings.carried)))

    def rows() -> Iterator[tuple[dict[str, Any], str]]:
        number, unpacked = 0, 0
        limit = min(MOST_BYTES, max(FREE_BYTES, os.stat(path).st_size * MOST_RATIO))
        with file:
            batches = file.iter_batches(columns=columns, batch_size=_rows_at_once(file))
            while True:
                try:
                    batch = next(batches, None)
                    batch_rows = [] if batch is None else batch.to_pylist()
                # A date beyond Python's calendar, or broken UTF-8, comes as one of the last three.
                except (pyarrow.ArrowException, OSError, ValueError, OverflowError, UnicodeError) as error:
                    raise unreadable(error) from None
                if batch is None:
                    return
                unpacked += batch.nbytes
                if unpacked > limit:
                    raise DataError(
                        f"{path}: unpacks to more than {limit >> 20:,} MiB, which looks like a decompression bomb; "
                        "write it anew without compression if you trust it"
                    )
                for row in batch_rows:
                    number += 1
                    yield row, f"{path}, row {number}"

    return replace(settings, format="parquet"), rows()


def _rows_at_once(file: Any) -> int:
    """The rows per batch that fit into memory even if every row holds the longest value of its column."""
    parts = [file.metadata.row_group(i) for i in range(file.metadata.num_row_groups)]
    longest = max((p.column(j).total_uncompressed_size for p in parts for j in range(p.num_columns)), default=1)
    return max(16, min(4096, _BATCH_BYTES // max(1, longest)))


def _records(
    rows: Iterable[tuple[dict[str, Any], str]], settings: ReadingSettings, labels_needed: bool
) -> Iterator[Record]:
    for row, where in rows:
        text = "\n".join(_text(row[name], name, where) for name in settings.text_columns)
        carried = tuple(_carried(row[name]) for name in settings.carried)
        yield Record(text, _labels(row, settings, where, labels_needed), carried=carried)


def _carried(value: Any) -> Any:
    """What goes along with a row as JSON or CSV can hold it: a date as its text."""
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def _text(value: Any, column: str, where: str) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise DataError(f"{where}: {column!r} is {type(value).__name__}, not a string")
    return value


def _labels(row: dict[str, Any], settings: ReadingSettings, where: str, needed: bool) -> list[str] | None:
    if settings.label_column is None:
        return None
    labels_cell = row[settings.label_column]
    if labels_cell is None:
        return [] if needed else None
    if isinstance(labels_cell, str):
        return labels_in(labels_cell, settings.label_separator or "|", where)
    if not isinstance(labels_cell, list):
        labels_cell = [labels_cell]
    if any(isinstance(label, bool) or not isinstance(label, str | int) for label in labels_cell):
        raise DataError(f"{where}: labels must be strings or whole numbers")
    return [str(label) for label in labels_cell]
