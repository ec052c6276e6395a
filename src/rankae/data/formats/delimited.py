"""CSV and TSV with a header line."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from typing import NoReturn

from rankae.data.dataset import Dataset
from rankae.data.formats.table import Cells, Table, open_table
from rankae.data.opening import Source, open_data, text_lines, without_compression
from rankae.data.reading import ReadingSettings
from rankae.errors import DataError

DELIMITERS = ",;\t|"
MOST_CELL = 1 << 27
_SAID_DELIMITER = re.compile(r"sep=(.)")  # Excel's own first line, above the header


def read(path: Source, reading: ReadingSettings | None = None) -> Dataset:
    """Read a whole file."""
    return _opened(path, reading or ReadingSettings(), labels_needed=True).whole()


def batches(
    path: Source, size: int, reading: ReadingSettings | None = None, labels_needed: bool = False
) -> Iterator[Dataset]:
    """Pieces of `size` rows; labels may be absent."""
    return _opened(path, reading or ReadingSettings(), labels_needed).pieces(size)


def _opened(path: Source, reading: ReadingSettings, labels_needed: bool) -> Table:
    csv.field_size_limit(MOST_CELL)
    stream = open_data(path)
    # Lines keep their ends here, because a quoted cell may run over several.
    lines = (f"{line}\n" for _, line in text_lines(stream, path, reading.encoding))
    try:
        first, above = next(lines, ""), 0
        delimiter = reading.delimiter
        if said := _SAID_DELIMITER.fullmatch(first.strip()):
            delimiter, first, above = delimiter or said[1], next(lines, ""), 1
        elif delimiter is None or (reading.of_model and not _fits(first, delimiter, reading)):
            delimiter = delimiter_of(first, reading, str(path))
        rows = _cells(csv.reader(chain([first], lines), delimiter=delimiter, strict=True), path, above)
        line, header = next(rows, (1, []))
        if not header:
            raise DataError(f"{path}: there are only empty lines in the file")
    except BaseException:
        stream.close()
        raise
    kind = "tsv" if _is_tsv(str(path)) else "csv"
    settings = replace(reading, delimiter=delimiter, format=kind)
    return open_table(header, rows, settings, path, f"{path}, line {line}", labels_needed, stream.close)


def _cells(table: Iterator[list[str]], path: Source, above: int) -> Cells:
    begins = 1 + above
    while True:
        try:
            row = next(table, None)
        except csv.Error as error:
            _complain(str(error), path, begins, table.line_num + above)  # type: ignore[attr-defined]
        if row is None:
            return
        begins = table.line_num + above + 1  # type: ignore[attr-defined]
        if row:
            yield begins - 1, row


def _complain(message: str, path: Source, begins: int, line: int) -> NoReturn:
    """Raise csv's message, worded for somebody who looks at the file."""
    where = f"{path}, line {line}"
    if message == "unexpected end of data":
        where, message = f"{path}, line {begins}", "a cell in quotation marks begins in this row and never ends"
    elif message.startswith("new-line character"):
        message = "lines end with a carriage return alone; save the file with usual line ends (\\n or \\r\\n)"
    elif "expected after" in message:
        message = f"{message}: a quotation mark within a cell in quotation marks must be written twice"
    raise DataError(f"{where}: {message}") from None


def delimiter_of(header: str, reading: ReadingSettings, name: str = "") -> str:
    """What stands between the cells of a header line: a tab for .tsv, else the first mark that finds the columns."""
    usual = "\t" if _is_tsv(name) else ","
    marks = usual + DELIMITERS.replace(usual, "")
    return next((mark for mark in marks if _fits(header, mark, reading)), max(marks, key=header.count))


def has_columns(header: str, reading: ReadingSettings) -> bool:
    """Whether a line is the header of a table with the columns of `reading`."""
    return any(_fits(header, mark, reading) for mark in DELIMITERS)


def names_a_column(header: str, reading: ReadingSettings) -> bool:
    """Whether a line is a header with some of the columns of `reading`, if not with all."""
    wanted = {*reading.text_columns, reading.label_column, reading.id_column} - {None}
    rows = [_split(header, mark) for mark in DELIMITERS]
    return any(len(cells) > 1 and wanted & {cell.strip() for cell in cells} for cells in rows)


def _fits(header: str, delimiter: str, reading: ReadingSettings) -> bool:
    try:
        reading.found_in([cell.strip() for cell in _split(header, delimiter)], "", False, table=True)
    except DataError:
        return False
    return True


def _split(line: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:
        return []


def _is_tsv(name: str) -> bool:
    return without_compression(name).lower().endswith((".tsv", ".tab"))
