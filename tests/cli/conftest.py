"""Small data and a model that the tests of commands share."""

from __future__ import annotations

from pathlib import Path

import pytest

from rankae.data import make_dataset, write_dataset
from rankae.methods import create


@pytest.fixture(scope="session")
def data(tmp_path_factory) -> Path:
    """A folder of 80 training and 20 test documents with 10 labels."""
    folder = tmp_path_factory.mktemp("data")
    train, test = make_dataset(rows=80, labels=10, test_rows=20)
    write_dataset(train, folder / "train.jsonl")
    write_dataset(test, folder / "test.jsonl")
    return folder


@pytest.fixture(scope="session")
def model(data, tmp_path_factory) -> Path:
    """A model of the nearest rows, trained on `data`."""
    from rankae.data import load_dataset

    place = tmp_path_factory.mktemp("models") / "knn"
    create("knn").fit_dataset(load_dataset(data)).save(place)
    return place
