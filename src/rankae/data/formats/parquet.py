"""Parquet (extra `parquet`): a text column and a column with a list of labels, or one string of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rankae.data.dataset import Dataset
from rankae.data.formats.delimited import LABEL_COLUMNS, SEPARATORS, TEXT_COLUMNS
from rankae.data.records import Record, pieces, whole
from rankae.errors import DataError, MissingExtra


def read(
    path: str, text_column: str | None = None, label_column: str | None = None, label_separator: str | None = None
) -> Dataset:
    """Read a whole file; see `rankae.data.formats.delimited.read` for the options."""
    return whole(_records(path, text_column, label_column, label_separator, True), path)


def batches(
    path: str,
    size: int,
    text_column: str | None = None,
    label_column: str | None = None,
    label_separator: str | None = None,
) -> Iterator[Dataset]:
    return pieces(_records(path, text_column, label_column, label_separator, False), size, path)


def _records(
    path: str, text_column: str | None, label_column: str | None, separator: str | None, must_have_labels: bool
) -> Iterator[Record]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra(f"{path}: Parquet", "parquet") from None
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            text = _column(path, file.schema_arrow.names, text_column, TEXT_COLUMNS, "text_column")
            labels = _column(
                path, file.schema_arrow.names, label_column, LABEL_COLUMNS, "label_column", must_have_labels
            )
            columns = [name for name in (text, labels) if name]
            number = 0
            for batch in file.iter_batches(columns=columns):
                for row in batch.to_pylist():
                    number += 1
                    yield _record(row, text, labels, separator, f"{path}, row {number}", must_have_labels)
    except FileNotFoundError:
        raise DataError(f"{path}: there is no such file") from None
    except (pyarrow.ArrowException, OSError) as error:
        raise DataError(f"{path}: not a readable Parquet file ({str(error).splitlines()[0]})") from None


def _column(
    path: str, have: list[str], wanted: str | None, usual: tuple[str, ...], option: str, needed: bool = True
) -> str | None:
    name = wanted or next((name for name in usual if name in have), None)
    if name not in have and (needed or wanted):
        raise DataError(
            f"{path}: there is no column {name or usual[0]!r} among {', '.join(have)}; choose with {option}"
        )
    return name


def _record(
    row: dict[str, Any], text_column: str | None, labels: str | None, separator: str | None, where: str, needed: bool
) -> Record:
    text = row.get(text_column or "")
    if not isinstance(text, str):
        raise DataError(f"{where}: {text_column!r} is {type(text).__name__}, not a string")
    own = row.get(labels) if labels else None
    if own is None:
        if needed:
            raise DataError(f"{where}: there is no {labels!r}; give a list of labels, empty if there are none")
        return Record(text, None)
    if isinstance(own, str):
        separator = separator or next((s for s in SEPARATORS if s in own), ",")
        own = [label for part in own.split(separator) if (label := part.strip())]
    elif not isinstance(own, list):
        own = [own]
    if any(isinstance(label, bool) or not isinstance(label, str | int) for label in own):
        raise DataError(f"{where}: labels must be strings or whole numbers")
    return Record(text, [str(label) for label in own])
