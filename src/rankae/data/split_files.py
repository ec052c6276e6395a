"""The repository's older layout: one data file, and split files that list the rows of each split.

    Delicious_data.txt   delicious_trSplit.txt   delicious_tstSplit.txt

Each line of a split file holds one row number (counted from 1) for each of ten random splits.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rankae.data.dataset import Dataset
from rankae.data.formats import ENDINGS
from rankae.data.formats.xmc import read
from rankae.data.opening import open_data, text_lines, without_compression
from rankae.errors import DataError


@dataclass(frozen=True)
class SplitFiles:
    data: Path
    rows: dict[str, Path]


def find_split_files(folder: Path) -> SplitFiles | None:
    """The data file and split files of `folder`, if it has this layout."""
    data, rows = None, {}
    for path in sorted(folder.iterdir()):
        plain = without_compression(path.name).lower()
        stem, _, ending = plain.rpartition(".")
        if f".{ending}" not in ENDINGS:
            continue
        if stem.endswith("trsplit"):
            rows["train"] = path
        elif stem.endswith(("tstsplit", "tesplit", "testsplit")):
            rows["test"] = path
        elif stem.endswith("data"):
            data = path
    return SplitFiles(data, rows) if data is not None and len(rows) == 2 else None


def load_split(files: SplitFiles, split: str, options: dict[str, Any]) -> Dataset:
    """The rows of `split`; option `split_column` (from 0) picks one of the random splits."""
    if split not in files.rows:
        raise DataError(f"{files.data.parent}: there is no {split!r} split; it has train, test")
    options = dict(options)
    column = options.pop("split_column", 0)
    data = read(str(files.data), **options)
    return data.take(_row_numbers(files.rows[split], column, len(data)))


def _row_numbers(path: Path, column: int, n_rows: int) -> np.ndarray:
    rows = []
    with open_data(path) as stream:
        for number, line in text_lines(stream, str(path)):
            fields = line.split()
            if not fields:
                continue
            if column >= len(fields):
                raise DataError(f"{path}, line {number}: there is no split {column}, only {len(fields)}")
            row = fields[column]
            if not (row.isascii() and row.isdigit() and len(row) < 19 and 1 <= int(row) <= n_rows):
                raise DataError(f"{path}, line {number}: {row[:40]!r} is not a row number from 1 to {n_rows}")
            rows.append(int(row) - 1)
    return np.array(rows, dtype=np.int64)
