"""Reads the finished decisions of a desk's folder as a data set."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rankae.data import load_dataset
from rankae.data.dataset import Dataset
from rankae.errors import DataError
from rankae.serve.store import FILE, Store


def is_desk(source: str) -> bool:
    return (Path(source) / FILE).is_file()


def load_rows(source: str, format: str | None = None, **options: Any) -> Dataset:
    """A data set, or the latest decision on each text of a desk."""
    if not is_desk(source):
        return load_dataset(source, "train", format=format, **options)
    from rankae.data.records import Record, whole
    from rankae.serve.exports import training_lines

    store = Store(Path(source), create=False)
    lines = [json.loads(line) for line in training_lines(store, "jsonl")]
    store.close()
    if not lines:
        raise DataError(f"{source}: nobody has finished a text at this desk yet")
    return whole((Record(labels=line["labels"], text=line["text"]) for line in lines), Path(source).name)
