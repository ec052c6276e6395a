"""`rankae data ...` as a user runs it; errors reach the main command as RankaeError."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from rankae.cli.data import app
from rankae.data import load_dataset
from rankae.errors import RankaeError


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout


@pytest.mark.parametrize("kind", ["--text", "--matrix"])
def test_make_info_and_convert(tmp_path, kind):
    folder = tmp_path / "made"
    made = json.loads(run("make", str(folder), "--rows", "100", "--labels", "12", kind, "--json"))
    assert made == {"folder": str(folder), "train": 100, "test": 25, "labels": 12}
    facts = json.loads(run("info", str(folder), "--json"))
    assert facts["rows"] == {"train": 100, "test": 25}
    assert "labels by training rows" in run("info", str(folder))
    run("convert", str(folder), str(tmp_path / "one.npz"))
    run("convert", str(tmp_path / "one.npz"), str(tmp_path / "two.jsonl.gz"))
    assert load_dataset(tmp_path / "two.jsonl.gz").labels.nnz == load_dataset(folder).labels.nnz


def test_convert_texts_to_weighted_words(tmp_path):
    run("make", str(tmp_path / "made"), "--rows", "50")
    run("convert", str(tmp_path / "made"), str(tmp_path / "words.txt"), "--words")
    assert load_dataset(tmp_path / "words.txt").n_features > 10


def test_convert_chosen_columns(tmp_path):
    (tmp_path / "a.csv").write_text("title,topic\nred apple,x;y\n")
    run(
        "convert",
        str(tmp_path / "a.csv"),
        str(tmp_path / "a.jsonl"),
        "--text-column",
        "title",
        "--label-column",
        "topic",
    )
    assert json.loads((tmp_path / "a.jsonl").read_text()) == {"text": "red apple", "labels": ["x", "y"]}


def test_list():
    known = {row["name"]: row for row in json.loads(run("list", "--json"))}
    assert known["eurlex-4k"]["test"] == 3809
    assert "wiki10-31k" in run("list")


def test_mistakes_write_nothing(tmp_path):
    (tmp_path / "a.txt").write_text("2 2 2\n0 0:1\n")
    runner = CliRunner()
    for arguments in (
        ["convert", str(tmp_path / "a.txt"), str(tmp_path / "b.npz")],
        ["convert", str(tmp_path / "a.txt"), str(tmp_path / "b.doc")],
        ["info", str(tmp_path / "none.txt")],
        ["make", str(tmp_path)],
        ["fetch", "nothing"],
    ):
        assert isinstance(runner.invoke(app, arguments).exception, RankaeError)
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


def test_the_commands_import_nothing_heavy():
    code = (
        "import sys, rankae.cli.data, rankae.data; print([m for m in ('numpy', 'scipy', 'torch') if m in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


def test_make_like_a_large_set(tmp_path):
    out = tmp_path / "made"
    said = json.loads(run("make", str(out), "--like", "amazon-670k", "--scale", "0.0005", "--json"))
    assert (said["train"], said["labels"]) == (245, 335)
    assert {file.name for file in out.iterdir()} == {"train.txt", "test.txt", "labels.txt", "vocab.txt"}
    assert json.loads(run("info", str(out), "--json"))["rows"] == {"train": 245, "test": 77}


@pytest.mark.parametrize(
    ("options", "about"),
    [
        (("--like", "nothing"), "no shape 'nothing'"),
        (("--like", "amazon-670k", "--text"), "leave out --text"),
        (("--scale", "0.5"), "belongs to --like"),
        (("--like", "amazon-670k", "--scale", "0.001", "--rows", "0"), "at least one row"),
    ],
)
def test_make_like_refuses_in_one_sentence(tmp_path, options, about):
    with pytest.raises(RankaeError, match=about):
        run("make", str(tmp_path / "made"), *options)
    assert not (tmp_path / "made").exists()


def test_info_shows_the_most_frequent_labels_and_those_that_look_like_empty_cells(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,labels\n" + "a,food;None\n" * 3 + "b,drink\n")
    assert json.loads(run("info", str(path), "--json"))["frequent_labels"] == {"None": 3, "food": 3, "drink": 1}
    shown = run("info", str(path))
    assert "most frequent labels: None (3), food (3), drink (1)" in shown
    assert "counted as labels: None; if they mean" in shown
