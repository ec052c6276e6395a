"""A command line run in this process, and small data and models that all its tests share."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from rankae.cli.entry import run
from rankae.data import make_dataset, write_dataset
from rankae.methods import create


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str


@pytest.fixture
def rankae(capfdbinary, monkeypatch) -> Callable[..., Ran]:
    """Run `rankae ARGUMENTS` with `stdin` as its standard input."""

    def call(*arguments: object, stdin: bytes = b"") -> Ran:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capfdbinary.readouterr()
        code = run([str(argument) for argument in arguments])
        out, err = capfdbinary.readouterr()
        return Ran(code, out.decode(), err.decode())

    return call


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
