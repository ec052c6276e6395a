"""Writes predictions as JSON lines, CSV or a workbook. Every label's name is encoded once, not once per row."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Protocol, TypeAlias

import numpy as np

from rankae.data.dataset import Dataset
from rankae.errors import MissingExtra, RankaeError
from rankae.report.formulas import escape_formula

FIELDS = ("id", "labels", "scores", "probabilities")  # of a line; kept columns cannot have these names
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

Carried: TypeAlias = dict[str, list[Any]]


@dataclass(frozen=True)
class Answer:
    """The labels of a batch of rows.

    columns, scores : [rows, k], best first; -1 at the end of rows with fewer labels.
    probabilities : likewise, or None if the model is not calibrated.
    carried : cells of the input that are copied to the output, by column: "id" and the columns of `--keep`.
    """

    columns: np.ndarray
    scores: np.ndarray
    probabilities: np.ndarray | None = None
    carried: Carried = field(default_factory=dict)

    def cut(self, keep: np.ndarray) -> Answer:
        """Only the labels in the boolean mask `keep`, moved to the front of each row."""
        if keep.all():
            return self
        order = np.argsort(~keep, axis=1, kind="stable")
        columns = np.take_along_axis(np.where(keep, self.columns, -1), order, axis=1)
        parts = (self.scores, self.probabilities)
        scores, probabilities = (None if part is None else np.take_along_axis(part, order, axis=1) for part in parts)
        assert scores is not None
        return Answer(columns, scores, probabilities, self.carried)


def carried_of(rows: Dataset) -> Carried:
    """The ids (under the name "id", whatever their column is called) and the kept columns."""
    if rows.reading is None:
        return {}
    ids = {} if rows.ids is None else {"id": rows.ids}
    return ids | {name: rows.carried[name] for name in rows.reading.keep if name != rows.reading.id_column}


class Writer(Protocol):
    """Writes answers one batch after the other; `close` ends the file."""

    def write(self, answer: Answer) -> None: ...

    def close(self) -> None: ...


@dataclass(frozen=True)
class Table:
    """The columns of a table: k labels, each with its score and probability."""

    classes: np.ndarray
    k: int

    def head(self, carried: Iterable[str]) -> list[str]:
        """id, title, ..., label_1, score_1, probability_1, label_2, ..."""
        kinds = ("label", "score", "probability")
        return [*carried, *(f"{kind}_{i}" for i in range(1, self.k + 1) for kind in kinds)]


class JsonLines:
    """{"id": ..., "labels": [...], "scores": [...], "probabilities": [...]} a row, best first.

    A model without calibration has no probabilities: null.
    """

    def __init__(self, stream: BinaryIO, classes: np.ndarray) -> None:
        self.stream = stream
        self.names = [_json(name) for name in classes.tolist()]

    def write(self, answer: Answer) -> None:
        self.stream.writelines(self._lines(answer))
        self.stream.flush()

    def close(self) -> None:
        pass

    def _lines(self, answer: Answer) -> Iterator[bytes]:
        parts = {"scores": answer.scores, "probabilities": answer.probabilities}
        values = {name: None if part is None else part.tolist() for name, part in parts.items()}
        carried = [(f"{_json(name)}: ", cells) for name, cells in answer.carried.items()]
        for i, row in enumerate(answer.columns.tolist()):
            ranked = [c for c in row if c >= 0]
            fields = [f"{name}{_json(_plain(cells[i]))}" for name, cells in carried]
            fields.append(f'"labels": [{", ".join([self.names[c] for c in ranked])}]')
            for name, part in values.items():
                figures = "null" if part is None else f"[{', '.join(map(_figure, part[i][: len(ranked)]))}]"
                fields.append(f'"{name}": {figures}')
            line = f"{{{', '.join(fields)}}}\n"
            try:
                yield line.encode()
            except UnicodeEncodeError:  # half of a surrogate pair, which only an escape can stand for
                yield (json.dumps(json.loads(line)) + "\n").encode()


class CsvLines:
    """id, kept columns, then label_1,score_1,probability_1,label_2,... a row; an empty place is empty cells."""

    def __init__(self, stream: BinaryIO, table: Table, *, bom: bool = False, formulas: bool = False) -> None:
        self.stream, self.table, self.bom = stream, table, bom
        self.text: Callable[[Any], Any] = (lambda cell: cell) if formulas else escape_formula
        self.names = [_csv_cell(self.text(name)) for name in table.classes.tolist()]
        self.begun = False

    def write(self, answer: Answer) -> None:
        self._begin(answer.carried)
        self.stream.writelines(self._lines(answer))
        self.stream.flush()

    def close(self) -> None:
        self._begin(())

    def _begin(self, carried: Iterable[str]) -> None:
        if not self.begun:
            self.begun = True
            head = ",".join(_csv_cell(self.text(name)) for name in self.table.head(carried)) + "\n"
            self.stream.write((BYTE_ORDER_MARK if self.bom else b"") + head.encode(errors="replace"))

    def _lines(self, answer: Answer) -> Iterator[bytes]:
        scores, likely = answer.scores.tolist(), _or_none(answer.probabilities, len(answer.columns))
        for i, row in enumerate(answer.columns.tolist()):
            cells = [_csv_cell(self.text(_plain(column[i]))) for column in answer.carried.values()]
            for place, c in enumerate(row):
                chance = "" if likely[i] is None else _figure(likely[i][place])
                cells.append(f"{self.names[c]},{_figure(scores[i][place])},{chance}" if c >= 0 else ",,")
            yield (",".join(cells) + "\n").encode(errors="replace")


class Workbook:
    """The columns of CSV in an .xlsx file; text cells are never formulas."""

    MOST_ROWS = 1_048_576

    def __init__(self, stream: BinaryIO, table: Table) -> None:
        try:
            import openpyxl
            from openpyxl.cell import WriteOnlyCell
        except ImportError:
            raise MissingExtra("writing .xlsx", "xlsx") from None
        self.stream, self.table, self.names = stream, table, table.classes.tolist()
        self.book = openpyxl.Workbook(write_only=True)
        self.sheet = self.book.create_sheet("predictions")
        self.cell, self.rows = WriteOnlyCell, 0

    def write(self, answer: Answer) -> None:
        self._begin(answer.carried)
        scores, likely = answer.scores.tolist(), _or_none(answer.probabilities, len(answer.columns))
        for i, row in enumerate(answer.columns.tolist()):
            cells = [_plain(column[i]) for column in answer.carried.values()]
            for place, c in enumerate(row):
                chance = None if likely[i] is None else likely[i][place]
                cells += [self.names[c], scores[i][place], chance] if c >= 0 else [None, None, None]
            self._append(cells)

    def close(self) -> None:
        self._begin(())
        self.book.save(self.stream)

    def _begin(self, carried: Iterable[str]) -> None:
        if not self.rows:
            self._append(self.table.head(carried))

    def _append(self, cells: Iterable[Any]) -> None:
        self.rows += 1
        if self.rows > self.MOST_ROWS:
            raise RankaeError(f"an .xlsx sheet holds {self.MOST_ROWS:,} rows and no more; write .csv or .jsonl instead")
        self.sheet.append([self._text(cell) if isinstance(cell, str) else cell for cell in cells])

    def _text(self, text: str) -> Any:
        from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

        cell = self.cell(self.sheet, value="")
        cell.value = ILLEGAL_CHARACTERS_RE.sub("\ufffd", text)[:32_767]  # what the format can hold
        cell.data_type = "s"
        return cell


def _or_none(part: np.ndarray | None, rows: int) -> list[Any]:
    return [None] * rows if part is None else part.tolist()


def check_kept(names: Sequence[str]) -> None:
    """Refuse to keep a column whose name is a field of the output."""
    if clashes := [name for name in names if name in FIELDS[1:]]:
        raise RankaeError(f"--keep {clashes[0]}: a line of the answer has a field of that name; rename the column")


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _plain(cell: Any) -> Any:
    """A cell as JSON and spreadsheets can hold it: dates of Parquet files become text."""
    if isinstance(cell, float) and cell != cell:
        return None
    return cell if isinstance(cell, str | int | float | None) else str(cell)


def _figure(value: float) -> str:
    return f"{value:.6g}"  # what float32 holds


def _csv_cell(value: Any) -> str:
    cell = io.StringIO()
    csv.writer(cell, lineterminator="\r\n").writerow([value])  # both, so that a name with either is quoted
    text = cell.getvalue().removesuffix("\r\n")
    return "" if text == '""' else text  # the writer quotes a cell that stands alone and is empty
