"""`rankae predict`: every way in and out, and constant memory."""

from __future__ import annotations

import csv
import gzip
import json

import pytest

from rankae.data import iter_batches, load_dataset
from rankae.methods import load
from rankae.rivals.knn import NearestRows


@pytest.fixture
def expected(data, model):
    """Names of the two best labels of each test row."""
    return load(model).predict_top(load_dataset(data, "test").rows, 2)[0].tolist()


def test_standard_input_to_standard_output(rankae, data, model, expected):
    ended = rankae("predict", model, "-", "-k", "2", "--batch", "7", stdin=(data / "test.jsonl").read_bytes())
    assert (ended.code, ended.err) == (0, "")
    lines = [json.loads(line) for line in ended.out.splitlines()]
    assert [line["labels"] for line in lines] == expected
    assert all(line["scores"] == sorted(line["scores"], reverse=True) for line in lines)


def test_plain_text_and_an_empty_line_each_get_an_answer(rankae, model):
    ended = rankae("predict", model, "-", stdin=b"some words\n\nother words\n")
    assert ended.code == 0
    assert ended.out.count("\n") == 3


def test_gzip_in_and_out(rankae, data, model, expected, tmp_path):
    (tmp_path / "in.jsonl.gz").write_bytes(gzip.compress((data / "test.jsonl").read_bytes()))
    ended = rankae("predict", model, tmp_path / "in.jsonl.gz", "-k", "2", "-o", tmp_path / "out.jsonl.gz")
    assert (ended.code, ended.out) == (0, "")
    lines = gzip.decompress((tmp_path / "out.jsonl.gz").read_bytes()).splitlines()
    assert [json.loads(line)["labels"] for line in lines] == expected


def test_csv_out(rankae, data, model, expected, tmp_path):
    assert rankae("predict", model, data / "test.jsonl", "-k", "2", "-o", tmp_path / "out.csv").code == 0
    with open(tmp_path / "out.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [[row["label_1"], row["label_2"]] for row in rows] == expected
    assert rankae("predict", model, data / "test.jsonl", "-k", "2", "--csv").out == (tmp_path / "out.csv").read_text()


def test_more_labels_than_there_are(rankae, model):
    ended = rankae("predict", model, "-", "-k", "99", stdin=b"some words\n")
    assert len(json.loads(ended.out)["labels"]) <= 10


def test_names_that_need_quoting(rankae, tmp_path):
    (tmp_path / "a.jsonl").write_text(json.dumps({"text": "a b", "labels": ['x, "y"', "é\n"]}) + "\n")
    assert rankae("train", tmp_path / "a.jsonl", "--model", tmp_path / "m", "--method", "popular").code == 0
    answer = json.loads(rankae("predict", tmp_path / "m", "-", stdin=b"a b\n").out)
    assert set(answer["labels"]) == {'x, "y"', "é\n"}
    rankae("predict", tmp_path / "m", "-", "-o", tmp_path / "out.csv", stdin=b"a b\n")
    with open(tmp_path / "out.csv", newline="") as file:
        (row,) = csv.DictReader(file)
    assert {row["label_1"], row["label_2"]} == set(answer["labels"])


def test_a_mistake_in_the_input_leaves_the_old_file(rankae, model, tmp_path):
    out = tmp_path / "out.jsonl"
    out.write_text("old")
    ended = rankae("predict", model, "-", "-o", out, "--batch", "1", stdin=b'{"text": "a"}\n{"text": 3}\n')
    assert ended.code == 2
    assert "standard input, line 2" in ended.err
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("out.jsonl", "old")]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["-o", "out.doc"], "predictions are written as .jsonl, .csv or .xlsx"),
        (["-k", "0"], "greater than or equal to 1"),
        (["--format", "npz"], "cannot be read as a stream"),
    ],
)
def test_mistakes(rankae, model, tmp_path, monkeypatch, options, told):
    monkeypatch.chdir(tmp_path)
    ended = rankae("predict", model, "-", *options, stdin=b"a\n")
    assert (ended.code, ended.out) == (2, "")
    assert told in ended.err
    assert not list(tmp_path.iterdir())


def test_rows_are_read_only_as_they_are_answered(rankae, model, monkeypatch):
    """Constant memory: no second batch is read before the first is answered."""
    events, answer = [], NearestRows.top_columns

    def noted(*arguments, **options):
        for piece in iter_batches(*arguments, **options):
            events.append(f"read {len(piece)}")
            yield piece

    monkeypatch.setattr("rankae.data.batches.iter_batches", noted)
    monkeypatch.setattr(NearestRows, "top_columns", lambda *given: (events.append("answer"), answer(*given))[1])
    rankae("predict", model, "-", "--batch", "2", stdin=b"a\nb\nc\n")
    assert events == ["read 2", "answer", "read 1", "answer"]
