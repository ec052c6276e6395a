"""A cell of several labels, as tables have them: "a;b", or a list as pandas writes it, ["a", "b"] or ['a', 'b']."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable
from typing import NoReturn

from rankae.data.reading import LISTS
from rankae.errors import DataError

SEPARATORS = "|;,"
NO_VALUE = frozenset(("NaN", "nan", "<NA>", "#N/A"))  # what pandas and spreadsheets write for an empty cell
_MOST_LIST = 1 << 20  # characters of a cell that is read as a list


def empty_if_no_value(cell: str) -> str:
    return "" if cell.strip() in NO_VALUE else cell


def separator_among(cells: Iterable[str | None], separators: str = SEPARATORS) -> str | None:
    """What stands between labels: "list" where every cell is a list, else the first of | ; , that occurs at all."""
    filled = [cell.strip() for cell in cells if cell and cell.strip() not in NO_VALUE]
    filled = [cell for cell in filled if cell]
    if filled and all(_like_a_list(cell) for cell in filled):
        return LISTS
    return next((mark for mark in separators if any(mark in cell for cell in filled)), None)


def labels_in(cell: str, separator: str, where: str) -> list[str]:
    """The labels of one cell; a list is read as one whatever the separator is."""
    cell = cell.strip()
    if not cell or cell in NO_VALUE:
        return []
    if separator == LISTS:
        return _listed(cell, where)
    return [label for part in cell.split(separator) if (label := part.strip())]


def _like_a_list(cell: str) -> bool:
    return cell[0] + cell[-1] in ("[]", "()") and (len(cell) < 3 or cell[1] in "\"'" or cell[1].isdigit())


def _listed(cell: str, where: str) -> list[str]:
    def complain(what: str) -> NoReturn:
        raise DataError(f"{where}: {cell[:60]!r} {what}") from None

    if len(cell) > _MOST_LIST:
        complain("is too long for a list of labels")
    try:
        found = json.loads(cell)
    except (ValueError, RecursionError):
        try:
            found = ast.literal_eval(cell)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            complain("is no list of labels, as other rows of this column have; mend it, or set --label-separator")
    if not isinstance(found, list | tuple):
        complain("is no list of labels, as other rows of this column have; mend it, or set --label-separator")
    if any(isinstance(label, bool) or not isinstance(label, str | int) for label in found):
        complain("holds something that is no label; labels are strings or whole numbers")
    return [name for label in found if (name := str(label).strip())]
