"""JSON lines: {"text": "...", "labels": ["...", ...]} or {"features": {"12": 0.5, ...}, "labels": [...]} a line."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any, BinaryIO, NoReturn

from rankae.data.dataset import Dataset
from rankae.data.opening import Source, open_data, text_lines
from rankae.data.records import Record, pieces, whole
from rankae.errors import DataError

MOST_COLUMNS = 1 << 27
MOST_VALUE = 3.4028235677e38  # from here on a number is infinite in float32


def read(
    path: Source, text_column: str = "text", label_column: str = "labels", n_features: int | None = None
) -> Dataset:
    """Read a whole file; every line must have labels, if only an empty list."""
    return whole(_records(path, text_column, label_column, True, n_features), path, n_features)


def batches(
    path: Source, size: int, text_column: str = "text", label_column: str = "labels", n_features: int | None = None
) -> Iterator[Dataset]:
    """Pieces of `size` lines; labels may be absent."""
    return pieces(_records(path, text_column, label_column, False, n_features), size, path, n_features)


def write(data: Dataset, stream: BinaryIO) -> None:
    """Write a line a row; labels by name, or by number where they have no names."""
    names = data.label_names or [str(i) for i in range(data.n_labels)]
    for i in range(len(data)):
        if data.texts is not None:
            row: dict[str, Any] = {"text": data.texts[i]}
        else:
            at = slice(data.features.indptr[i], data.features.indptr[i + 1])  # type: ignore[union-attr]
            pairs = zip(data.features.indices[at].tolist(), data.features.data[at], strict=True)  # type: ignore[union-attr]
            # By way of its shortest digits: 0.1 in float32 is 0.10000000149... as a plain float.
            row = {"features": {str(j): float(str(value)) for j, value in pairs}}
        own = data.labels.indices[data.labels.indptr[i] : data.labels.indptr[i + 1]]
        row["labels"] = [names[j] for j in own]
        stream.write(_line(row) + b"\n")


def _line(row: dict[str, Any]) -> bytes:
    try:
        return json.dumps(row, ensure_ascii=False).encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which only an escape can stand for
        return json.dumps(row).encode()


def _records(
    path: Source, text_column: str, label_column: str, must_have_labels: bool, n_features: int | None
) -> Iterator[Record]:
    with open_data(path) as stream:
        for number, line in text_lines(stream, path):
            if not line or line.isspace():
                continue

            def complain(what: str, number: int = number) -> NoReturn:
                raise DataError(f"{path}, line {number}: {what}") from None

            try:
                row = json.loads(line)
            except (ValueError, RecursionError) as error:
                complain(f"not a JSON object ({error})")
            if isinstance(row, str) and not must_have_labels:
                row = {text_column: row}
            if not isinstance(row, dict):
                complain(f"a JSON object was expected, not {type(row).__name__}")
            labels = row.get(label_column)
            if labels is None and must_have_labels:
                complain(f"there is no {label_column!r}; give a list of labels, empty if there are none")
            if labels is not None:
                labels = _labels(labels, label_column, complain)
            text = row.get(text_column)
            if isinstance(text, str):
                yield Record(text, labels)
            elif text is not None:
                complain(f"{text_column!r} must be a string, not {type(text).__name__}")
            elif isinstance(row.get("features"), dict):
                yield Record(None, labels, _features(row["features"], n_features, complain))
            else:
                complain(f"there is no {text_column!r} and no 'features'")


def _labels(labels: Any, field: str, complain: Any) -> list[str]:
    if not isinstance(labels, list):
        labels = [labels]
    for label in labels:
        if isinstance(label, bool) or not isinstance(label, str | int) or label == "":
            complain(f"{label!r} in {field!r} is no label; labels are strings or whole numbers")
    return [str(label) for label in labels]


def _features(given: dict[str, Any], n_features: int | None, complain: Any) -> dict[int, float]:
    features: dict[int, float] = {}
    width = MOST_COLUMNS if n_features is None else n_features
    for key, value in given.items():
        if not (key.isascii() and key.isdigit() and len(key) < 12 and int(key) < width):
            complain(f"{key[:40]!r} is not a feature number from 0 to {width - 1}")
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            complain(f"feature {key}: {value!r} is not a finite number")
        if abs(value) >= MOST_VALUE:
            complain(f"feature {key}: {value!r} is too large")
        if int(key) in features:
            complain(f"feature {key} is given twice")
        features[int(key)] = float(value)
    return features
