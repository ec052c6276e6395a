"""Plain text, a document a line: for prediction only, since there are no labels."""

from __future__ import annotations

from collections.abc import Iterator

from rankae.data.dataset import Dataset
from rankae.data.opening import Source, open_data, text_lines
from rankae.data.records import Record, pieces
from rankae.errors import DataError


def read(path: Source) -> Dataset:
    raise DataError(f"{path}: plain lines have no labels; use .jsonl, .csv or XMC text")


def batches(path: Source, size: int) -> Iterator[Dataset]:
    """Pieces of `size` lines. An empty line is an empty document: line i of the answer belongs to line i."""
    with open_data(path) as stream:
        yield from pieces((Record(line, None) for _, line in text_lines(stream, path)), size, path)
