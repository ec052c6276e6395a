"""Excel workbooks (extra `xlsx`): the first sheet, whose first row that is not empty is the header."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from rankae.data.dataset import Dataset
from rankae.data.formats.table import Cells, Table, open_table
from rankae.data.opening import FREE_BYTES, MOST_BYTES, MOST_RATIO
from rankae.data.reading import ReadingSettings
from rankae.errors import DataError, MissingExtra


def read(path: str, reading: ReadingSettings | None = None) -> Dataset:
    """Read a whole sheet."""
    return _opened(path, reading or ReadingSettings(), labels_needed=True).whole()


def batches(
    path: str, size: int, reading: ReadingSettings | None = None, labels_needed: bool = False
) -> Iterator[Dataset]:
    """Pieces of `size` rows; labels may be absent."""
    return _opened(path, reading or ReadingSettings(), labels_needed).pieces(size)


def _opened(path: str, reading: ReadingSettings, labels_needed: bool) -> Table:
    try:
        import openpyxl
    except ImportError:
        raise MissingExtra(f"{path}: .xlsx", "xlsx") from None
    limit = _check_size(path)
    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
        sheet = book.worksheets[0]
        sheet.reset_dimensions()  # some programs write a size that is not the sheet's
    except Exception as error:  # openpyxl has no error of its own for what is no workbook
        raise _unreadable(path, error) from None
    rows = _cells(sheet.iter_rows(values_only=True), path, limit)
    try:
        line, header = next(rows, (1, []))
    except BaseException:
        book.close()
        raise
    while header and not header[-1]:
        header = header[:-1]
    width = len(header)
    cells = ((number, _of_width(row, width)) for number, row in rows)
    settings = replace(reading, format="xlsx")
    return open_table(header, cells, settings, path, f"{path}, line {line}", labels_needed, book.close)


def _check_size(path: str) -> int:
    """The most characters that the cells may hold; a workbook that unpacks to more is refused before it is parsed."""
    try:
        with zipfile.ZipFile(path) as packed:
            unpacked = sum(part.file_size for part in packed.infolist())
        limit = min(MOST_BYTES, max(FREE_BYTES, os.stat(path).st_size * MOST_RATIO))
    except FileNotFoundError:
        raise DataError(f"{path}: there is no such file") from None
    except (OSError, zipfile.BadZipFile, ValueError) as error:
        raise _unreadable(path, error) from None
    if unpacked > limit:
        raise _bomb(path, limit)
    return limit


def _cells(rows: Iterator[tuple[Any, ...]], path: str, limit: int) -> Cells:
    """Rows as texts; one shared text may stand in many cells, so what they hold together is counted."""
    characters, number = 0, 0
    while True:
        try:
            row = next(rows, None)
        except Exception as error:  # whatever damage meets first: zlib, XML, a date
            raise _unreadable(path, error) from None
        if row is None:
            return
        number += 1
        cells = [_text(cell) for cell in row]
        characters += sum(map(len, cells))
        if characters > limit:
            raise _bomb(path, limit)
        if any(cells):
            yield number, cells


def _of_width(row: Any, width: int) -> list[str]:
    """A sheet's rows end with their last cell; empty cells beyond the header are nobody's."""
    row = [*row, *[""] * (width - len(row))]
    return row[:width] if not any(row[width:]) else row


def _text(cell: Any) -> str:
    """A cell as CSV would have it: 3, not 3.0."""
    if cell is None:
        return ""
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


def _unreadable(path: str, error: Exception) -> DataError:
    message = (str(error).splitlines() or [type(error).__name__])[0]
    return DataError(f"{path}: not a readable .xlsx workbook ({message[:200]})")


def _bomb(path: str, limit: int) -> DataError:
    return DataError(
        f"{path}: unpacks to more than {limit >> 20:,} MiB, which looks like a decompression bomb; "
        "save it as CSV if you trust it"
    )
