"""CSV and TSV with a header line: chosen columns hold the text and the labels."""

from __future__ import annotations

import csv
from collections.abc import Iterator

from rankae.data.dataset import Dataset
from rankae.data.opening import Source, open_data, text_lines, without_compression
from rankae.data.records import Record, pieces, whole
from rankae.errors import DataError

TEXT_COLUMNS = ("text", "document", "description", "content", "body")
LABEL_COLUMNS = ("labels", "label", "tags", "classes", "categories")
SEPARATORS = "|;,"
MOST_CELL = 1 << 27


def read(
    path: Source,
    text_column: str | None = None,
    label_column: str | None = None,
    label_separator: str | None = None,
    delimiter: str | None = None,
) -> Dataset:
    """Read a whole file.

    Parameters
    ----------
    text_column : the text's column; several, separated by commas, are joined line by line.
    label_column : the labels' column.
    label_separator : what stands between labels; if not given, the first of | ; , that occurs in the column.
    delimiter : what stands between cells: a tab for .tsv, else a comma.
    """
    rows = list(_rows(path, text_column, label_column, delimiter, must_have_labels=True))
    if label_separator is None:
        label_separator = next((s for s in SEPARATORS if any(s in (cell or "") for _, cell in rows)), ",")
    return whole((_record(text, cell, label_separator) for text, cell in rows), path)


def batches(
    path: Source,
    size: int,
    text_column: str | None = None,
    label_column: str | None = None,
    label_separator: str | None = None,
    delimiter: str | None = None,
) -> Iterator[Dataset]:
    """Pieces of `size` rows; labels may be absent. A stream cannot look ahead: its separator is | if not given."""
    rows = _rows(path, text_column, label_column, delimiter, must_have_labels=False)
    return pieces((_record(text, cell, label_separator or "|") for text, cell in rows), size, path)


def _record(text: str, cell: str | None, separator: str) -> Record:
    if cell is None:
        return Record(text, None)
    return Record(text, [label for part in cell.split(separator) if (label := part.strip())])


def _rows(
    path: Source, text_column: str | None, label_column: str | None, delimiter: str | None, must_have_labels: bool
) -> Iterator[tuple[str, str | None]]:
    """(text, label cell) of every row."""
    csv.field_size_limit(MOST_CELL)
    if delimiter is None:
        delimiter = "\t" if without_compression(str(path)).lower().endswith((".tsv", ".tab")) else ","
    elif len(delimiter) != 1:
        raise DataError(f"{path}: the delimiter must be one character, not {delimiter!r}")
    with open_data(path) as stream:
        # Lines keep their ends here, because a quoted cell may run over several.
        table = csv.reader((f"{line}\n" for _, line in text_lines(stream, path)), delimiter=delimiter, strict=True)
        try:
            header = next(table, [])
            texts = _chosen(path, header, text_column.split(",") if text_column else None, TEXT_COLUMNS, "text_column")
            wanted = [label_column] if label_column else None
            if must_have_labels or (wanted and wanted[0] in header):
                labels: int | None = _chosen(path, header, wanted, LABEL_COLUMNS, "label_column")[0]
            else:
                labels = next((header.index(name) for name in LABEL_COLUMNS if name in header), None)
            for row in table:
                if not row:
                    continue
                if len(row) != len(header):
                    raise DataError(f"{path}, line {table.line_num}: {len(row)} cells under {len(header)} columns")
                yield "\n".join(row[i] for i in texts), None if labels is None else row[labels]
        except csv.Error as error:
            raise DataError(f"{path}, line {table.line_num}: {error}") from None


def _chosen(
    path: Source, header: list[str], wanted: list[str] | None, usual: tuple[str, ...], option: str
) -> list[int]:
    names = wanted or [name for name in usual if name in header][:1]
    if not names or not set(names) <= set(header):
        missing = next((name for name in names if name not in header), " or ".join(usual[:2]))
        have = ", ".join(header)[:200]
        raise DataError(f"{path}, line 1: there is no column {missing!r} among {have}; choose one with {option}")
    return [header.index(name) for name in names]
