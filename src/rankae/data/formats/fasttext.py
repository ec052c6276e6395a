"""fastText's lines: any number of __label__NAME words, then the text."""

from __future__ import annotations

from collections.abc import Iterator

from rankae.data.dataset import Dataset
from rankae.data.opening import Source, open_data, text_lines
from rankae.data.records import Record, pieces, whole
from rankae.errors import DataError

PREFIX = "__label__"


def read(path: Source, label_prefix: str = PREFIX) -> Dataset:
    """Read a whole file. Labels may stand anywhere in a line; a line without any is a row without labels."""
    data = whole(_records(path, label_prefix), path)
    if not data.n_labels:
        raise DataError(f"{path}: no word begins with {label_prefix}, so this is no fastText file")
    return data


def batches(path: Source, size: int, label_prefix: str = PREFIX) -> Iterator[Dataset]:
    return pieces(_records(path, label_prefix), size, path)


def _records(path: Source, prefix: str) -> Iterator[Record]:
    with open_data(path) as stream:
        for number, line in text_lines(stream, path):
            words = line.split(" ")
            labels = [word.removeprefix(prefix) for word in words if word.startswith(prefix)]
            if "" in labels:
                raise DataError(f"{path}, line {number}: {prefix} without a label's name behind it")
            if line and not line.isspace():
                yield Record(" ".join(word for word in words if not word.startswith(prefix)), labels)
