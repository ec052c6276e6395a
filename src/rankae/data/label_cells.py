"""A cell of several labels, as tables have them: "a;b", or a list as pandas writes it.

Lists are ["a", "b"], ('a', 'b'), {'a', 'b'} and NumPy's ['a' 'b']. A label that holds what stands between labels is in
quotes: "R;D";fruit.
"""

from __future__ import annotations

import ast
import csv
import json
import re
from collections.abc import Iterable
from typing import NoReturn

from rankae.data.reading import LISTS
from rankae.errors import DataError

SEPARATORS = "|;,"
NO_VALUE = frozenset(("NaN", "nan", "<NA>", "#N/A"))  # what pandas and spreadsheets write for an empty cell
_SELDOM = 0.1  # of the cells that a later mark is in: a mark in fewer stands within labels
_MOST_LIST = 1 << 20  # characters of a cell that is read as a list
_EMPTY_SETS = ("set()", "frozenset()")
_NUMPY = re.compile(r"""\[\s*(?:'[^'\\]*'|"[^"\\]*")(?:\s+(?:'[^'\\]*'|"[^"\\]*"))+\s*\]""")  # without commas
_NUMPY_ITEM = re.compile(r"""'[^'\\]*'|"[^"\\]*\"""")


def empty_if_no_value(cell: str) -> str:
    return "" if cell.strip() in NO_VALUE else cell


def separator_among(cells: Iterable[str | None], separators: str = SEPARATORS) -> str | None:
    """The separator between labels: "list" if every cell is a list, otherwise the first of | ; , that is not rare."""
    filled = [cell.strip() for cell in cells if cell and cell.strip() not in NO_VALUE]
    filled = [cell for cell in filled if cell]
    if filled and all(_like_a_list(cell) for cell in filled):
        return LISTS
    cells_with = [sum(mark in cell for cell in filled) for mark in separators]
    for place, mark in enumerate(separators):
        if cells_with[place] > _SELDOM * max(cells_with[place + 1 :], default=0):
            return mark
    return None


def labels_in(cell: str, separator: str, where: str) -> list[str]:
    """The labels of one cell; a list is read as one whatever the separator is."""
    cell = cell.strip()
    if not cell or cell in NO_VALUE:
        return []
    if separator == LISTS:
        return _listed(cell, where)
    return [label for part in _parts(cell, separator) if (label := part.strip())]


def indicated(cell: str, column: str, where: str) -> bool:
    """Whether a cell of 0 and 1 names its column's label."""
    value = cell.strip().lower()
    if value in ("1", "1.0", "true", "yes"):
        return True
    if value in ("", "0", "0.0", "false", "no") or cell.strip() in NO_VALUE:
        return False
    raise DataError(f"{where}: {cell[:40]!r} under {column!r}, where 1 or 0 says whether a row has this label")


def _parts(cell: str, separator: str) -> list[str]:
    if '"' in cell and len(separator) == 1:
        try:
            return next(csv.reader([cell], delimiter=separator, skipinitialspace=True, strict=True), [])
        except (csv.Error, ValueError, TypeError):  # quotation marks of the labels' own
            pass
    return cell.split(separator)


def _like_a_list(cell: str) -> bool:
    if cell in _EMPTY_SETS:
        return True
    return cell[0] + cell[-1] in ("[]", "()", "{}") and (len(cell) < 3 or cell[1] in "\"'" or cell[1].isdigit())


def _listed(cell: str, where: str) -> list[str]:
    def complain(what: str) -> NoReturn:
        raise DataError(f"{where}: {cell[:60]!r} {what}") from None

    if len(cell) > _MOST_LIST:
        complain("is too long for a list of labels")
    if cell in _EMPTY_SETS:
        return []
    if _NUMPY.fullmatch(cell):
        cell = f"[{', '.join(_NUMPY_ITEM.findall(cell))}]"
    try:
        value = json.loads(cell)
    except (ValueError, RecursionError):
        try:
            value = ast.literal_eval(cell)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            complain("is no list of labels, as other rows of this column have; mend it, or set --label-separator")
    if isinstance(value, set):
        value = sorted(value, key=str)
    if not isinstance(value, list | tuple):
        complain("is no list of labels, as other rows of this column have; mend it, or set --label-separator")
    if any(isinstance(label, bool) or not isinstance(label, str | int) for label in value):
        complain("holds something that is no label; labels are strings or whole numbers")
    return [name for label in value if (name := str(label).strip())]
