"""Plain text with one document per line, for prediction only, since there are no labels."""

from __future__ import annotations

from collections.abc import Iterator

from rankae.data.dataset import Dataset
from rankae.data.opening import Source, open_data, text_lines
from rankae.data.records import Record, pieces
from rankae.errors import DataError


def read(path: Source) -> Dataset:
    raise DataError(f"{path}: plain lines have no labels; use .jsonl, .csv or XMC text")


def batches(path: Source, size: int) -> Iterator[Dataset]:
    """Batches of `size` lines. An empty line is an empty document, so that line i of the output belongs to line i."""
    with open_data(path) as stream:
        yield from pieces((Record(line, None) for _, line in text_lines(stream, path)), size, path)
