"""Methods of one's own: the example of the docs is compared, tuned and trained like any other."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from rankae.cli.entry import run
from rankae.data import make_dataset, write_dataset
from rankae.errors import ModelFileError, RankaeError
from rankae.methods import create, load

DOCS = Path(__file__).parents[2] / "docs" / "rivals.md"
NAME = "my_methods:NearestCentre"


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with the docs' my_methods.py and a small data set."""
    (example,) = re.findall(r"```python\n# my_methods\.py\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "my_methods.py").write_text(example)
    train, test = make_dataset(rows=80, labels=8, test_rows=20)
    write_dataset(train, tmp_path / "mydata" / "train.jsonl")
    write_dataset(test, tmp_path / "mydata" / "test.jsonl")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield tmp_path
    sys.modules.pop("my_methods", None)


@pytest.mark.parametrize("isolate", ["--isolate", "--no-isolate"])
def test_it_is_compared(here, isolate, capsys):
    setting = f"{NAME}.power=0.75"
    command = ["compare", "mydata", "--methods", f"popular,{NAME}", "--set", setting, isolate, "--json", "-o", "out"]
    assert run(command) == 0
    cells = [json.loads(path.read_text()) for path in (here / "out" / "cells").glob("*.json")]
    found = {cell["cell"]["method"]: cell for cell in cells}
    assert found[NAME]["status"] == "done"
    assert found[NAME]["cell"]["parameters"] == {"power": 0.75}
    assert found[NAME]["scores"]["P@1"] > found["popular"]["scores"]["P@1"]


def test_a_model_file_never_names_code_to_import(here):
    model = create(NAME).fit(["a b", "c d"] * 5, [["x"], ["y"]] * 5)
    type(model).method = NAME
    model.save(here / "m")
    with pytest.raises(ModelFileError, match="is not known here"):
        load(here / "m")
    assert type(model).load(here / "m").predict(["a"]) == [["x"]]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("nothing_of_the_kind:A", "there is no module 'nothing_of_the_kind'"),
        ("my_methods:Other", "the module my_methods has no Other"),
        ("json:JSONDecoder", "inherits from rankae.base.ranker.LabelRanker"),
        ("nobody", "there is no method 'nobody'"),
    ],
)
def test_mistakes(here, name, told):
    with pytest.raises(RankaeError, match=re.escape(told)):
        create(name)
