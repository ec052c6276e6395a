"""Columns and tables of pandas, polars and Arrow, read without importing any of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from rankae.errors import DataError


def column_names(table: Any) -> list[Any] | None:
    """Names of a table's columns, or None for anything else."""
    if isinstance(table, np.ndarray) or sp.issparse(table) or isinstance(table, list | tuple | dict):
        return None
    if hasattr(table, "column_names"):  # Arrow, whose `columns` are the columns themselves
        return list(table.column_names)
    return list(table.columns) if hasattr(table, "columns") else None


def is_column(values: Any) -> bool:
    """Whether this is a column of pandas, polars or Arrow."""
    return column_names(values) is None and any(hasattr(values, name) for name in ("to_pylist", "to_list"))


def listed(column: Any) -> list[Any]:
    """The values of a column as Python has them."""
    for name in ("to_pylist", "to_list", "tolist"):
        if hasattr(column, name):
            return list(getattr(column, name)())
    return list(column)


def only_column(table: Any) -> Any:
    """The column of a table with one column, such as `df[["text"]]`; anything else as it is."""
    names = column_names(table)
    if names is not None:
        return table[names[0]] if len(names) == 1 else table
    if isinstance(table, np.ndarray) and table.dtype.kind in "OUT" and table.ndim == 2 and table.shape[1] == 1:
        return table[:, 0]
    return table


def is_missing(value: Any) -> bool:
    """None, NaN, or what pandas has for them."""
    if isinstance(value, float):
        return value != value
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def is_number(column: Any) -> bool:
    """Whether a column holds numbers or truth values."""
    return all(isinstance(value, int | float | np.number | np.bool_) for value in listed(column))


def texts_of(rows: Any) -> Any:
    """Texts in any container as a list of strings; anything that holds no text is returned as it is.

    Refuses a single string, a table of several columns some of which are text, and missing texts, because
    scikit-learn's messages about these do not name the cause.
    """
    if isinstance(rows, str | bytes):
        raise DataError("a string alone was given where rows are expected: put it in a list, [text]")
    if isinstance(rows, Iterator):
        raise DataError("rows come from an iterator, which can be read only once: make it a list")
    if sp.issparse(rows) or not hasattr(rows, "__len__"):
        return rows
    rows = only_column(rows)
    names = column_names(rows)
    if names is not None:
        _refuse_texts_among(rows, names)
        return rows
    if isinstance(rows, np.ndarray):
        if rows.ndim != 1 or rows.dtype.kind not in "OUT":
            return rows
    elif not is_column(rows) and not isinstance(rows, Sequence):
        return rows
    first = next((value for value in _beginning(rows) if not is_missing(value)), None)
    if isinstance(first, bytes):
        raise DataError('texts are bytes: decode them first, as in text.decode("utf-8")')
    if isinstance(rows, list) and isinstance(first, list) and first and isinstance(first[0], str):
        raise DataError('a row is a list of words: join them first, as in " ".join(words)')
    if not isinstance(first, str):
        return rows
    values = rows if isinstance(rows, list) else listed(rows)
    for row, value in enumerate(values):
        if is_missing(value):
            raise DataError(f'row {row}: the text is missing ({value}); fill it first, as in X.fillna("")')
    return values


def check_same_order(X: Any, Y: Any) -> None:
    """Refuse data of pandas whose rows carry the same index in another order; rows belong together by position."""
    if not all(hasattr(getattr(data, "index", None), "equals") for data in (X, Y)):
        return
    rows, labels = X.index, Y.index
    if len(rows) != len(labels) or rows.equals(labels) or not (rows.is_unique and labels.is_unique):
        return
    if rows.isin(labels).all():
        raise DataError(
            "rows and labels have the same index in another order: bring them together, as in Y.loc[X.index]"
        )


def _beginning(rows: Any) -> Any:
    """Values from the first on, without turning a whole column into a list."""
    return (_value(rows, i) for i in range(len(rows)))


def _value(rows: Any, i: int) -> Any:
    value = rows.iloc[i] if hasattr(rows, "iloc") else rows[i]
    return value.as_py() if hasattr(value, "as_py") else value


def _refuse_texts_among(table: Any, names: list[Any]) -> None:
    if not len(table):
        return
    for name in names:
        column = table[name]
        if is_column(column) and isinstance(_value(column, 0), str):
            shown = ", ".join(map(str, names[:8]))
            raise DataError(
                f"the table has the columns {shown}, of which {name} holds text: give one column of texts, such as "
                f'X["{name}"]; several are joined with + "\\n" +'
            )
