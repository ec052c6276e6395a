"""JSON lines: {"text": "...", "labels": ["...", ...]} or {"features": {"12": 0.5, ...}, "labels": [...]} a line.

The same objects may stand in one array, [{...}, {...}], as pandas writes them with orient="records".
A text may be a list of strings, such as the ingredients of a recipe, and may have "vector": [0.5, ...] beside it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, BinaryIO, NoReturn, TypeAlias

import numpy as np

from rankae.data.dataset import Dataset
from rankae.data.label_cells import labels_in, separator_among
from rankae.data.opening import Source, open_data, text_lines
from rankae.data.reading import ReadingSettings
from rankae.data.records import Record, pieces, whole
from rankae.data.vectors import TextWithVector, checked_vectors
from rankae.errors import DataError

Complain: TypeAlias = Callable[[str], NoReturn]  # it knows file and line

MOST_COLUMNS = 1 << 27
_BETWEEN = ", "  # the strings of a list that is a text
MOST_VALUE = 3.4028235677e38  # from here on a number is infinite in float32


@dataclass(frozen=True, slots=True)
class _Row:
    place: str  # "line 3", or "row 3" of an array
    text: str | None
    labels: Any  # as they stand in the line
    features: dict[int, float] | None
    carried: tuple[Any, ...]


def read(path: Source, reading: ReadingSettings | None = None, n_features: int | None = None) -> Dataset:
    """Read a whole file; every line must have labels, if only an empty list.

    Labels that are one string a row are split where | or ; stands between them, or where they are lists in quotes.
    """
    settings, rows = _opened(path, reading or ReadingSettings(), True, n_features)
    everything = list(rows)
    if settings.label_separator is None and all(isinstance(row.labels, str | None) for row in everything):
        settings = replace(settings, label_separator=separator_among((row.labels for row in everything), "|;"))
    return whole(_records(everything, settings, path), path, n_features, settings)


def batches(
    path: Source,
    size: int,
    reading: ReadingSettings | None = None,
    n_features: int | None = None,
    labels_needed: bool = False,
) -> Iterator[Dataset]:
    """Pieces of `size` lines; labels may be absent."""
    settings, rows = _opened(path, reading or ReadingSettings(), labels_needed, n_features)
    return pieces(_records(rows, settings, path), size, path, n_features, settings)


def write(data: Dataset, stream: BinaryIO) -> None:
    """Write a line a row; labels by name, or by number where they have no names."""
    names = data.label_names or [str(i) for i in range(data.n_labels)]
    for i in range(len(data)):
        if data.texts is not None:
            text = data.texts[i]
            row: dict[str, Any] = {"text": text}
            if isinstance(text, TextWithVector):
                row["vector"] = [float(str(value)) for value in text.vector]
        else:
            at = slice(data.features.indptr[i], data.features.indptr[i + 1])  # type: ignore[union-attr]
            pairs = zip(data.features.indices[at].tolist(), data.features.data[at], strict=True)  # type: ignore[union-attr]
            # By way of its shortest digits: 0.1 in float32 is 0.10000000149... as a plain float.
            row = {"features": {str(j): float(str(value)) for j, value in pairs}}
        columns = data.labels.indices[data.labels.indptr[i] : data.labels.indptr[i + 1]]
        row["labels"] = [names[j] for j in columns]
        row |= {column: cells[i] for column, cells in data.carried.items() if column not in row}
        stream.write(_line(row) + b"\n")


def _line(row: dict[str, Any]) -> bytes:
    try:
        return json.dumps(row, ensure_ascii=False).encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which only an escape can stand for
        return json.dumps(row).encode()


def _records(rows: Iterable[_Row], settings: ReadingSettings, path: Source) -> Iterator[Record]:
    for row in rows:
        labels = row.labels
        if isinstance(labels, str) and settings.label_separator is not None:
            labels = labels_in(labels, settings.label_separator, f"{path}, {row.place}")
        elif labels is not None:
            labels = _labels(labels, settings.label_column or "", _complainer(path, row.place))
        yield Record(row.text, labels, row.features, row.carried)


def _opened(
    path: Source, reading: ReadingSettings, labels_needed: bool, n_features: int | None
) -> tuple[ReadingSettings, Iterator[_Row]]:
    """What the fields of the first object say, and all rows."""
    stream = open_data(path)
    try:
        lines = _objects(text_lines(stream, path, reading.encoding), path)
        first = next(lines, None)
        row = {} if first is None else _object(first[1], _complainer(path, first[0]), reading, labels_needed)
        settings = reading
        wordless = isinstance(row.get("features"), dict) or row.get("vector") is not None
        if wordless and _no_text(row, reading):
            settings = replace(reading, label_column=reading.label_column or "labels")
        elif first is not None:
            settings = reading.found_in(list(row), f"{path}, {first[0]}", labels_needed)
    except BaseException:
        stream.close()
        raise

    def rows() -> Iterator[_Row]:
        with stream:
            for place, line in chain(() if first is None else (first,), lines):
                yield _row(line, place, settings, labels_needed, n_features, _complainer(path, place))

    return replace(settings, format="jsonl"), rows()


def _objects(lines: Iterator[tuple[int, str]], path: Source) -> Iterator[tuple[str, str]]:
    """Each object's place and text; those of an array are taken apart."""
    filled = ((number, line) for number, line in lines if line and not line.isspace())
    first = next(filled, None)
    if first is None:
        return
    if not first[1].lstrip().startswith("["):
        yield from ((f"line {number}", line) for number, line in chain((first,), filled))
        return
    try:
        rows = json.loads("\n".join([first[1], *(line for _, line in filled)]), object_pairs_hook=_distinct)
    except _GivenTwice as error:
        raise DataError(f"{path}: the field {str(error)[:60]!r} is given twice") from None
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: begins as a JSON array, but is none ({error})") from None
    yield from ((f"row {number}", json.dumps(row)) for number, row in enumerate(rows, 1))


def _no_text(row: dict[str, Any], reading: ReadingSettings) -> bool:
    try:
        return not reading.text_columns and not reading.found_in(list(row), "", False).text_columns
    except DataError:
        return not reading.text_columns


def _row(
    line: str, place: str, settings: ReadingSettings, labels_needed: bool, n_features: int | None, complain: Complain
) -> _Row:
    row = _object(line, complain, settings, labels_needed)
    names = settings.text_columns or ("text",)
    label_column = settings.label_column or "labels"
    labels = None if settings.ignore_labels else row.get(label_column)
    if isinstance(labels, float) and math.isnan(labels):  # how pandas writes that there are none
        labels = None
    if labels_needed and label_column not in row:
        complain(f"there is no {label_column!r}; give a list of labels, empty if there are none")
    carried = tuple(row.get(name) for name in settings.carried)
    texts = [_text(row.get(name), name, complain) for name in names]
    vector = row.get("vector")
    # A vector may stand for a row without words, such as an image.
    if (all(name in row for name in names) and any(isinstance(t, str) for t in texts)) or vector is not None:
        text = "\n".join(t or "" for t in texts)
        if vector is not None:
            text = TextWithVector.of(text, _vector(vector, complain))
        return _Row(place, text, labels, None, carried)
    if isinstance(row.get("features"), dict):
        return _Row(place, None, labels, _features(row["features"], n_features, complain), carried)
    lacking = next((name for name in names if row.get(name) is None), names[0])
    return complain(f"there is no {lacking!r} and no 'features'")


def _text(given: Any, name: str, complain: Complain) -> str | None:
    """What a field holds; a list, such as that of a recipe's ingredients, is read as one line, or it would look like a
    title and what follows it."""
    if isinstance(given, list) and all(isinstance(part, str) for part in given):
        return _BETWEEN.join(given)
    if isinstance(given, dict):
        complain(f"{name!r} holds a whole column; pandas writes a row each with to_json(orient='records', lines=True)")
    if not isinstance(given, str | None):
        complain(f"{name!r} must be a string or a list of strings, not {type(given).__name__}")
    return given


def _object(line: str, complain: Complain, reading: ReadingSettings, labels_needed: bool) -> dict[str, Any]:
    """The object that a line holds; for prediction a string alone is a text."""
    try:
        row = json.loads(line, object_pairs_hook=_distinct)
    except _GivenTwice as error:
        complain(f"the field {str(error)[:60]!r} is given twice")
    except (ValueError, RecursionError) as error:
        complain(f"not a JSON object ({error})")
    if isinstance(row, str) and not labels_needed:
        return dict.fromkeys(reading.text_columns[1:], "") | {(reading.text_columns or ("text",))[0]: row}
    if not isinstance(row, dict):
        complain(f"a JSON object was expected, not {type(row).__name__}")
    return row


class _GivenTwice(Exception):
    """A field that an object has twice: which of them counts is anybody's guess."""


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    row = dict(pairs)
    if len(row) < len(pairs):
        names = [name for name, _ in pairs]
        raise _GivenTwice(next(name for name in names if names.count(name) > 1))
    return row


def _complainer(path: Source, place: str) -> Complain:
    def complain(what: str) -> NoReturn:
        raise DataError(f"{path}, {place}: {what}") from None

    return complain


def _labels(labels: Any, field: str, complain: Complain) -> list[str]:
    if not isinstance(labels, list):
        labels = [labels]
    for label in labels:
        if isinstance(label, bool) or not isinstance(label, str | int) or label == "":
            complain(f"{label!r} in {field!r} is no label; labels are strings or whole numbers")
    return [str(label) for label in labels]


def _vector(given: Any, complain: Complain) -> np.ndarray:
    if not isinstance(given, list) or not given or not all(type(value) in (int, float) for value in given):
        complain("'vector' must be a list of numbers")
    try:
        return checked_vectors([given])[0]
    except DataError:
        return complain("'vector' holds too many numbers, or one that is not finite")


def _features(given: dict[str, Any], n_features: int | None, complain: Complain) -> dict[int, float]:
    features: dict[int, float] = {}
    width = MOST_COLUMNS if n_features is None else n_features
    for key, value in given.items():
        if not (key.isascii() and key.isdigit() and len(key) < 12 and int(key) < width):
            complain(f"{key[:40]!r} is not a feature number from 0 to {width - 1}")
        if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
            complain(f"feature {key}: {value!r} is not a finite number")
        if abs(value) >= MOST_VALUE:  # true of infinity, and of a whole number that no float can hold
            complain(f"feature {key}: {str(value)[:40]} is too large")
        if int(key) in features:
            complain(f"feature {key} is given twice")
        features[int(key)] = float(value)
    return features
