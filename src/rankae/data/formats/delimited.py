"""CSV and TSV with a header line: chosen columns hold the text, the labels and the id."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain

from rankae.data.dataset import Dataset
from rankae.data.label_cells import empty_if_no_value, labels_in, separator_among
from rankae.data.opening import Source, open_data, text_lines, without_compression
from rankae.data.reading import LISTS, ReadingSettings
from rankae.data.records import Record, pieces, whole
from rankae.errors import DataError

DELIMITERS = ",;\t|"
MOST_CELL = 1 << 27


@dataclass(frozen=True, slots=True)
class _Row:
    line: int
    text: str
    label_cell: str | None
    carried: tuple[str, ...]


def read(path: Source, reading: ReadingSettings | None = None) -> Dataset:
    """Read a whole file; a label separator that is not set is found by looking at every label cell."""
    settings, rows = _opened(path, reading or ReadingSettings(), labels_needed=True)
    everything = list(rows)
    found = separator_among(row.label_cell for row in everything)
    if settings.label_separator is None or (found == LISTS and settings.of_model):
        settings = replace(settings, label_separator=found or ",")
    return whole(_records(everything, settings, path), path, reading=settings)


def batches(
    path: Source, size: int, reading: ReadingSettings | None = None, labels_needed: bool = False
) -> Iterator[Dataset]:
    """Pieces of `size` rows; labels may be absent. A stream cannot look ahead: its separator is | if not set."""
    settings, rows = _opened(path, reading or ReadingSettings(), labels_needed)
    settings = replace(settings, label_separator=settings.label_separator or "|")
    return pieces(_records(rows, settings, path), size, path, reading=settings)


def _records(rows: Iterator[_Row] | list[_Row], settings: ReadingSettings, path: Source) -> Iterator[Record]:
    separator = settings.label_separator or ","
    for row in rows:
        labels = None if row.label_cell is None else labels_in(row.label_cell, separator, f"{path}, line {row.line}")
        yield Record(row.text, labels, carried=row.carried)


def _opened(path: Source, reading: ReadingSettings, labels_needed: bool) -> tuple[ReadingSettings, Iterator[_Row]]:
    """What the header says, and the rows below it."""
    csv.field_size_limit(MOST_CELL)
    stream = open_data(path)
    # Lines keep their ends here, because a quoted cell may run over several.
    lines = (f"{line}\n" for _, line in text_lines(stream, path))
    try:
        first = next(lines, "")
        delimiter = reading.delimiter
        if delimiter is None or (reading.of_model and not _fits(first, delimiter, reading)):
            delimiter = delimiter_of(first, reading, str(path))
        table = csv.reader(chain([first], lines), delimiter=delimiter, strict=True)
        try:
            header = next(table, [])
        except csv.Error as error:
            raise DataError(f"{path}, line 1: {error}") from None
        settings = replace(reading, delimiter=delimiter).found_in(header, f"{path}, line 1", labels_needed)
    except BaseException:
        stream.close()
        raise

    def rows() -> Iterator[_Row]:
        texts = [header.index(name) for name in settings.text_columns]
        label = None if settings.label_column is None else header.index(settings.label_column)
        carried = [header.index(name) for name in settings.carried]
        with stream:
            try:
                for row in table:
                    if not row:
                        continue
                    if len(row) != len(header):
                        raise DataError(f"{path}, line {table.line_num}: {len(row)} cells under {len(header)} columns")
                    text = "\n".join(empty_if_no_value(row[i]) for i in texts)
                    cell = None if label is None else row[label]
                    yield _Row(table.line_num, text, cell, tuple(row[i] for i in carried))
            except csv.Error as error:
                raise DataError(f"{path}, line {table.line_num}: {error}") from None

    return replace(settings, format="tsv" if _is_tsv(str(path)) else "csv"), rows()


def delimiter_of(header: str, reading: ReadingSettings, name: str = "") -> str:
    """What stands between the cells of a header line: a tab for .tsv, else the first mark that finds the columns."""
    usual = "\t" if _is_tsv(name) else ","
    marks = usual + DELIMITERS.replace(usual, "")
    return next((mark for mark in marks if _fits(header, mark, reading)), max(marks, key=header.count))


def has_columns(header: str, reading: ReadingSettings) -> bool:
    """Whether a line is the header of a table with the columns of `reading`."""
    return any(_fits(header, mark, reading) for mark in DELIMITERS)


def _fits(header: str, delimiter: str, reading: ReadingSettings) -> bool:
    try:
        cells = next(csv.reader([header], delimiter=delimiter), [])
        reading.found_in(cells, "", False)
    except (csv.Error, DataError):
        return False
    return True


def _is_tsv(name: str) -> bool:
    return without_compression(name).lower().endswith((".tsv", ".tab"))
