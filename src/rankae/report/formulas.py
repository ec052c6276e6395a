"""Cells that a spreadsheet would run as formulas (CSV injection) get an apostrophe, which makes them text."""

from __future__ import annotations

from typing import Any

FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r")  # first characters of a formula


def escape_formula(cell: Any) -> Any:
    """The cell, with an apostrophe before it if a spreadsheet would take it for a formula."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA_SIGNS) and not _is_number(cell) else cell


def unescape_formula(cell: str) -> str:
    """The cell as it was before `escape_formula`."""
    return cell[1:] if cell[:1] == "'" and cell[1:].startswith(FORMULA_SIGNS) else cell


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
