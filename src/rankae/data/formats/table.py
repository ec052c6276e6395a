"""Rows of cells under a header, whatever file they are from: chosen columns hold the text, the labels and the id."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from rankae.data.dataset import Dataset
from rankae.data.label_cells import empty_if_no_value, indicated, labels_in, separator_among
from rankae.data.opening import Source
from rankae.data.reading import LISTS, ReadingSettings
from rankae.data.records import Record, pieces, whole
from rankae.errors import DataError

Cells: TypeAlias = Iterator[tuple[int, Sequence[str]]]  # number of a row's last line, and the row


@dataclass(frozen=True, slots=True)
class Row:
    line: int
    text: str
    label_cell: str | None
    labels: list[str] | None  # where columns of 0 and 1 tell them
    carried: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """A file that is open: what its header says, and its rows."""

    settings: ReadingSettings
    rows: Iterator[Row]
    path: Source

    def whole(self) -> Dataset:
        """Everything; a label separator that is not set is found by looking at every label cell."""
        rows, settings = list(self.rows), self.settings
        separator = separator_among(row.label_cell for row in rows)
        if settings.label_separator is None or (separator == LISTS and settings.of_model):
            settings = replace(settings, label_separator=separator or ",")
        return whole(self._records(rows, settings), self.path, reading=settings)

    def pieces(self, size: int) -> Iterator[Dataset]:
        """Pieces of `size` rows. A stream cannot look ahead: its separator is | if not set."""
        settings = replace(self.settings, label_separator=self.settings.label_separator or "|")
        return pieces(self._records(self.rows, settings), size, self.path, reading=settings)

    def _records(self, rows: Iterable[Row], settings: ReadingSettings) -> Iterator[Record]:
        separator = settings.label_separator or ","
        for row in rows:
            labels = row.labels
            if row.label_cell is not None:
                labels = labels_in(row.label_cell, separator, f"{self.path}, line {row.line}")
            yield Record(row.text, labels, carried=row.carried)


def open_table(
    header: Sequence[str],
    cells: Cells,
    reading: ReadingSettings,
    path: Source,
    where: str,
    labels_needed: bool,
    close: Callable[[], None],
) -> Table:
    """The table of a header and the cells below it; `close` is called at its end, and where it is refused.

    where : the header's place, for messages.
    """
    header = [name.strip() for name in header]
    try:
        settings = reading.found_in(header, where, labels_needed, table=True)
    except BaseException:
        close()
        raise
    return Table(settings, _rows(header, cells, settings, path, close), path)


def _rows(
    header: Sequence[str], cells: Cells, settings: ReadingSettings, path: Source, close: Callable[[], None]
) -> Iterator[Row]:
    texts = [header.index(name) for name in settings.text_columns]
    labels = [header.index(name) for name in settings.label_columns(header)]
    cell_of_labels = labels[0] if len(labels) == 1 else None
    carried = [header.index(name) for name in settings.carried]
    try:
        for line, row in cells:
            if len(row) != len(header):
                raise DataError(f"{path}, line {line}: {len(row)} cells under {len(header)} columns")
            text = "\n".join(empty_if_no_value(row[i]) for i in texts)
            row_labels = None
            if len(labels) > 1:
                row_labels = [header[i] for i in labels if indicated(row[i], header[i], f"{path}, line {line}")]
            cell = None if cell_of_labels is None else row[cell_of_labels]
            yield Row(line, text, cell, row_labels, tuple(row[i] for i in carried))
    finally:
        close()
