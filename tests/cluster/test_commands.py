"""`--cluster` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rankae.cli.entry import run as run_command
from rankae.data import make_dataset, write_dataset

pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    train, test = make_dataset(rows=80, labels=10, test_rows=20)
    write_dataset(train, folder / "train.jsonl")
    write_dataset(test, folder / "test.jsonl")
    return folder


def run(*arguments: object) -> int:
    return run_command([str(argument) for argument in arguments])


def test_predict_and_compare(data, tmp_path, capfd):
    assert run("train", data, "--model", tmp_path / "m", "--method", "knn") == 0
    for options in ((), ("--cluster", "local:1", "--batch", "6")):
        out = tmp_path / f"{len(options)}.jsonl"
        assert run("predict", tmp_path / "m", data / "test.jsonl", "-o", out, *options) == 0
        assert not out.with_name(f"{out.name}.parts").exists()
    assert (tmp_path / "0.jsonl").read_text() == (tmp_path / "4.jsonl").read_text()
    capfd.readouterr()
    how = ("--methods", "popular", "--cluster", "local:1", "--json", "-o", tmp_path / "report")
    assert run("compare", data, *how) == 0
    assert "popular" in json.dumps(json.loads(capfd.readouterr().out))
    assert len(list((tmp_path / "report" / "cells").glob("*.json"))) == 1


def test_an_address_where_nobody_answers(data, tmp_path, capfd):
    assert run("train", data, "--model", tmp_path / "m", "--cluster", "local:none") == 2
    assert "local:N" in capfd.readouterr().err
    assert not (tmp_path / "m").exists()
