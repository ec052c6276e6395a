"""Builds a Dataset from records (a text or numbered features, and label names), for all text formats."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import scipy.sparse as sp

from rankae.data.dataset import Dataset
from rankae.data.opening import OpenStream, has_line
from rankae.data.reading import ReadingSettings
from rankae.errors import DataError


@dataclass(frozen=True, slots=True)
class Record:
    """One row: `text` or `features` (number -> value), and its labels, None where the source has none.

    carried : cells that go along with the row, in the order of `ReadingSettings.carried`.
    """

    text: str | None
    labels: list[str] | None
    features: dict[int, float] | None = None
    carried: tuple[Any, ...] = ()


def gathered(
    records: Iterable[Record], name: object, n_features: int | None = None, reading: ReadingSettings | None = None
) -> Dataset:
    """A data set of all `records`, with label columns sorted by name."""
    carried: list[tuple[Any, ...]] = []
    texts: list[str] = []
    feature_rows: list[dict[int, float]] = []
    number: dict[str, int] = {}
    label_ends, label_numbers = array("q", [0]), array("q")
    for record in records:
        if record.text is not None:
            texts.append(record.text)
        else:
            feature_rows.append(record.features or {})
        carried.append(record.carried)
        label_numbers.extend({number.setdefault(label, len(number)) for label in record.labels or ()})
        label_ends.append(len(label_numbers))
    if texts and feature_rows:
        raise DataError(f"{name}: some rows are texts and some are features; a data set holds one kind")
    names = sorted(number)
    column = np.empty(len(names), dtype=np.int32)
    column[[number[label] for label in names]] = np.arange(len(names))
    indices, indptr = column[np.array(label_numbers, dtype=np.int64)], np.array(label_ends, dtype=np.int64)
    labels = sp.csr_matrix((np.ones(len(indices), np.float32), indices, indptr), shape=(len(indptr) - 1, len(names)))
    labels.sort_indices()
    features = _matrix(feature_rows, n_features) if feature_rows else None
    columns = reading.carried if reading is not None else ()
    return Dataset(
        labels,
        features,
        texts if features is None else None,
        label_names=names,
        name=str(name),
        reading=reading,
        carried={column: [cells[i] for cells in carried] for i, column in enumerate(columns)},
    )


def whole(
    records: Iterable[Record], name: object, n_features: int | None = None, reading: ReadingSettings | None = None
) -> Dataset:
    """`gathered`, for files that must not be empty."""
    data = gathered(records, name, n_features, reading)
    if not len(data):
        raise DataError(f"{name}: there are no rows in the file")
    return data


def pieces(
    records: Iterator[Record],
    size: int,
    name: object,
    n_features: int | None = None,
    reading: ReadingSettings | None = None,
) -> Iterator[Dataset]:
    """Data sets of at most `size` records, in constant memory; a pipe's batch ends early if no further line is
    ready."""
    while batch := list(_up_to(records, size, name)):
        yield gathered(batch, name, n_features, reading)


def _up_to(records: Iterator[Record], size: int, source: object) -> Iterator[Record]:
    for record in islice(records, size):
        yield record
        if isinstance(source, OpenStream) and not has_line(source):
            return


def _matrix(rows: list[dict[int, float]], n_features: int | None) -> sp.csr_matrix:
    indptr = np.cumsum([0] + [len(row) for row in rows])
    indices = np.fromiter((j for row in rows for j in row), np.int32, indptr[-1])
    values = np.fromiter((value for row in rows for value in row.values()), np.float32, indptr[-1])
    width = int(indices.max(initial=-1)) + 1 if n_features is None else n_features
    matrix = sp.csr_matrix((values, indices, indptr), shape=(len(rows), width))
    matrix.sort_indices()
    return matrix
