"""Converts a user's inputs: rows to a list of texts or a CSR matrix, labels to a CSR matrix with names."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from rankae.base.tables import column_names, is_column, is_missing, is_number, listed, only_column
from rankae.errors import DataError

TargetKind = Literal["indicator", "lists", "single"]


@dataclass(frozen=True)
class Targets:
    """Labels of the training rows.

    matrix : CSR float32, rows x labels, every stored value 1.
    classes : the label's name for each column, as the user gave it.
    kind : the form of the user's labels, in which `predict` returns labels.
    named : whether the columns of an indicator have names, as those of a data frame.
    """

    matrix: sp.csr_matrix
    classes: np.ndarray
    kind: TargetKind
    named: bool = False


def is_text(X: Any) -> bool:
    """True for a sequence (or 1-D array) of strings."""
    if isinstance(X, str | bytes) or sp.issparse(X) or not hasattr(X, "__len__") or len(X) == 0:
        return False
    if isinstance(X, np.ndarray):
        return X.ndim == 1 and (X.dtype.kind in "UT" or (X.dtype == object and isinstance(X[0], str)))
    return isinstance(X, Sequence) and isinstance(X[0], str)


def name_array(names: Iterable[Hashable]) -> np.ndarray:
    """A 1-D array of names: int64 for integers, else objects (tuples are kept whole)."""
    names = list(names)
    if names and all(
        isinstance(n, int | np.integer) and not isinstance(n, bool) and abs(int(n)) < 2**63 for n in names
    ):
        return np.asarray(names, dtype=np.int64)
    return np.fromiter(names, dtype=object, count=len(names))


def label_matrix(Y: Any) -> Targets:
    """Read labels given as an indicator matrix (sparse or dense), as lists of names, or as one name per row.

    A column of pandas, polars or Arrow holds lists or names; a table holds 0 and 1 in one named column per label.
    """
    if sp.issparse(Y):
        return _from_indicator(sp.csr_matrix(Y, copy=True))
    if (names := column_names(Y)) is not None:
        return _from_data_frame(Y, names)
    if is_column(Y):
        Y = _from_column(Y)
    if isinstance(Y, np.ndarray) and Y.ndim == 2:
        return _from_table(Y)
    if isinstance(Y, np.ndarray) and Y.dtype != object:
        if Y.ndim != 1:
            raise DataError(
                f"labels have {Y.ndim} dimensions; give a rows x labels indicator or a list of labels a row"
            )
        return _from_single(Y)
    if not isinstance(Y, Iterable) or isinstance(Y, str | bytes):
        raise DataError("labels must be a rows x labels indicator matrix, or a list with the labels of each row")
    Y = list(Y)
    if Y and not any(_is_collection(row) for row in Y):
        return _from_single(Y)
    return _from_indicator(sp.csr_matrix(np.asarray(Y))) if _is_indicator_of_lists(Y) else _from_lists(Y)


def labels_among(Y: Any, classes: np.ndarray, pass_over: bool = False) -> sp.csr_matrix:
    """Labels Y in the columns of `classes`; unknown labels are an error, or ignored with `pass_over`."""
    targets = label_matrix(Y)
    if targets.kind == "indicator" and not targets.named:
        if targets.matrix.shape[1] != len(classes):
            raise DataError(f"labels have {targets.matrix.shape[1]} columns, the model {len(classes)}")
        return targets.matrix
    place = {name: i for i, name in enumerate(classes.tolist())}
    columns = np.array([place.get(name, -1) for name in targets.classes.tolist()], dtype=np.int32)
    if not pass_over and (columns < 0).any():
        name = targets.classes.tolist()[int(np.argmin(columns))]
        raise DataError(f"label {name!r} was not in the first rows; fit on all rows to add it")
    entries = targets.matrix.tocoo()
    known = columns[entries.col] >= 0
    shape = targets.matrix.shape[0], len(classes)
    return sp.csr_matrix((entries.data[known], (entries.row[known], columns[entries.col[known]])), shape=shape)


def labels_with_new(Y: Any, classes: np.ndarray) -> tuple[sp.csr_matrix, np.ndarray]:
    """Labels Y in the columns of `classes`, followed by a column for each new name; and all class names."""
    targets = label_matrix(Y)
    if targets.kind == "indicator":
        return labels_among(Y, classes), classes
    place = {name: i for i, name in enumerate(classes.tolist())}
    for name in targets.classes.tolist():
        place.setdefault(name, len(place))
    every = classes if len(place) == len(classes) else name_array(place)
    return labels_among(Y, every), every


def _is_indicator_of_lists(Y: list[Any]) -> bool:
    """Whether these are rows of 0 and 1, as scikit-learn takes them; names would not occur twice in a row."""
    if not all(isinstance(row, list | tuple) and len(row) == len(Y[0]) for row in Y):
        return False
    return all(type(value) is int and value in (0, 1) for row in Y for value in row) and any(
        len(set(row)) < len(row) for row in Y
    )


def _is_collection(row: Any) -> bool:
    return isinstance(row, list | set | frozenset | tuple | np.ndarray)


def _from_table(Y: np.ndarray) -> Targets:
    """A dense indicator, or a table of label names."""
    if Y.dtype.kind in "biuf":
        return _from_indicator(sp.csr_matrix(Y))
    try:  # a data frame of mixed columns comes as objects
        return _from_indicator(sp.csr_matrix(Y.astype(np.float64)))
    except (TypeError, ValueError):
        return _from_lists(list(Y))


def _from_data_frame(table: Any, names: list[Any]) -> Targets:
    """A table of named 0/1 columns, or of a single column of names or lists."""
    numbers = [is_number(table[name]) for name in names]
    if len(names) == 1 and not numbers[0]:
        return label_matrix(only_column(table))
    if not all(numbers):
        shown, wrong = ", ".join(map(str, names[:8])), names[numbers.index(False)]
        raise DataError(
            f"labels have the columns {shown}, of which {wrong} is no 0/1 indicator: "
            "give the one column that holds the labels, or 0/1 columns alone"
        )
    values = np.column_stack([np.asarray(listed(table[name]), dtype=np.float64) for name in names])
    targets = _from_indicator(sp.csr_matrix(values))
    return Targets(targets.matrix, name_array(names), "indicator", named=names != list(range(len(names))))


def _from_column(column: Any) -> Any:
    """A column's values: an array if all are numbers, else a list; a missing value among lists is an empty list."""
    values = listed(column)
    if any(_is_collection(value) for value in values):
        return [[] if is_missing(value) else value for value in values]
    numbers = all(isinstance(v, int | float | np.number) and not isinstance(v, bool) for v in values)
    return np.asarray(values) if values and numbers else values


def _from_indicator(matrix: sp.csr_matrix) -> Targets:
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    if matrix.nnz and not np.all(matrix.data == 1):
        worst = matrix.data[matrix.data != 1][0]
        raise DataError(f"the label matrix holds {worst}; it must hold only 0 and 1")
    matrix = sp.csr_matrix(matrix, dtype=np.float32)
    return Targets(matrix, np.arange(matrix.shape[1]), "indicator")


def _from_single(Y: Any) -> Targets:
    if isinstance(Y, np.ndarray) and Y.dtype.kind == "f" and not np.isfinite(Y).all():
        raise DataError("Input y contains NaN or infinity, which is no label")
    values = list(Y.tolist() if isinstance(Y, np.ndarray) else Y)
    _check_single(values)
    try:
        classes = _sorted_names(set(values))
    except TypeError:
        wrong = next(type(value).__name__ for value in values if not isinstance(value, Hashable))
        raise DataError(f"the labels of a row must be a name or a list of names, not {wrong}") from None
    column = {name: i for i, name in enumerate(classes)}
    indices = np.fromiter((column[v] for v in values), dtype=np.int32, count=len(values))
    matrix = sp.csr_matrix(
        (np.ones(len(values), np.float32), indices, np.arange(len(values) + 1)), shape=(len(values), len(classes))
    )
    return Targets(matrix, np.asarray(classes) if isinstance(Y, np.ndarray) else name_array(classes), "single")


def _check_single(values: list[Any]) -> None:
    """Refuse missing labels, and strings that look like several labels in one."""
    for row, value in enumerate(values):
        if is_missing(value):
            raise DataError(
                f"row {row}: the label is missing ({value}); leave the row out, or give a list of labels for every row"
            )
    distinct = {value for value in values if isinstance(value, str)}
    for mark in ("|", ";", ","):
        joined = [value for value in distinct if mark in value]
        if not joined:
            continue
        parts = {part.strip() for value in distinct for part in value.split(mark)}
        # A comma may be part of a name; if there are fewer distinct parts than strings, it separates labels.
        if mark != "," or len(parts) < len(distinct):
            raise DataError(
                f"labels such as {min(joined)[:60]!r} look like several in one string: split them, as in "
                f'Y.str.split("{mark}"), or give [label] for each row if they are one'
            )


def _from_lists(Y: list[Any]) -> Targets:
    column: dict[Hashable, int] = {}
    indptr = np.zeros(len(Y) + 1, dtype=np.int64)
    indices: list[int] = []
    for i, row in enumerate(Y):
        if not _is_collection(row):
            raise DataError(f"row {i}: labels must be a list, not {type(row).__name__}")
        if isinstance(row, set | frozenset):  # whose order is another in every process
            row = _sorted_names(row)
        try:
            indices.extend(sorted({column.setdefault(name, len(column)) for name in row}))
        except TypeError:
            raise DataError(f"row {i}: a label is not hashable; use strings, numbers or tuples") from None
        indptr[i + 1] = len(indices)
    matrix = sp.csr_matrix((np.ones(len(indices), np.float32), indices, indptr), shape=(len(Y), len(column)))
    names = list(column)
    if len(real := [i for i, name in enumerate(names) if not _is_blank(name)]) < len(names):
        matrix, names = sp.csr_matrix(matrix[:, real]), [names[i] for i in real]
    _warn_of_spaces(names)
    return Targets(matrix, name_array(names), "lists")


def _is_blank(name: Any) -> bool:
    """What stands in a list for no label: NaN, or the empty string that "".split(";") gives. None is a name."""
    return (is_missing(name) and name is not None) or (isinstance(name, str) and not name.strip())


def _warn_of_spaces(names: list[Any]) -> None:
    """Tell of labels that differ by spaces alone, as "a; b".split(";") leaves them."""
    padded = [name for name in names if isinstance(name, str) and name != name.strip()]
    if padded and (twice := {name.strip() for name in padded}.intersection(names)):
        warnings.warn(
            f"{len(twice)} labels are also there with spaces around them, such as {min(twice)!r}: these count as other "
            "labels; strip them if they are the same",
            stacklevel=2,
        )


def _sorted_names(names: Iterable[Hashable]) -> list[Hashable]:
    try:
        return sorted(names)  # type: ignore[type-var]
    except TypeError:
        return sorted(names, key=lambda name: (type(name).__name__, repr(name)))
