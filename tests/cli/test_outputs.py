"""No command writes over what it reads."""

from __future__ import annotations

import shutil

import pytest


@pytest.mark.parametrize(
    "command",
    [
        ("predict", "m", "data/test.jsonl", "-o", "data/test.jsonl"),
        ("predict", "m", "data/test.jsonl", "-o", "data/../data/test.jsonl"),
        ("evaluate", "m", "data", "--per-label", "data/test.jsonl"),
        ("evaluate", "m", "data/test.jsonl", "--html", "data/test.jsonl"),
        ("threshold", "m", "data", "--split", "test", "--html", "data/train.jsonl"),
        ("train", "data", "--method", "knn", "--model", "new", "--report", "data/test.jsonl"),
        ("explain", "m", "data/test.jsonl", "--row", "0", "--html", "data/test.jsonl"),
        ("data", "convert", "data/test.jsonl", "data/test.jsonl"),
        ("audit", "data", "--method", "knn", "-o", "data/train.jsonl"),
    ],
)
def test_the_input_is_never_written_over(rankae, data, model, tmp_path, monkeypatch, command):
    shutil.copytree(data, tmp_path / "data")
    shutil.copytree(model, tmp_path / "m")
    monkeypatch.chdir(tmp_path)
    before = {path: path.read_bytes() for path in (tmp_path / "data").iterdir()}
    ended = rankae(*command)
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert "is the input itself" in ended.err
    assert {path: path.read_bytes() for path in (tmp_path / "data").iterdir()} == before


def test_two_outputs_are_two_files_and_other_files_of_a_data_folder_may_be_written(rankae, data, model, tmp_path):
    shutil.copytree(data, tmp_path / "data")
    place = tmp_path / "data" / "figures.csv"
    twice = rankae("evaluate", model, tmp_path / "data", "--per-label", place, "--html", place)
    assert (twice.code, "is named twice" in twice.err) == (2, True)
    assert rankae("evaluate", model, tmp_path / "data", "--per-label", place).code == 0
    assert place.read_text().startswith("label,support")


def test_a_model_is_not_shrunk_into_itself(rankae, tmp_path):
    from rankae import RankAE

    RankAE("fast").fit(["red apple", "green pear"] * 20, [["a"], ["b"]] * 20).save(tmp_path / "m")
    before = {path: path.read_bytes() for path in (tmp_path / "m").iterdir()}
    ended = rankae("shrink", tmp_path / "m", tmp_path / "m")
    assert (ended.code, "is the model itself" in ended.err) == (2, True)
    assert {path: path.read_bytes() for path in (tmp_path / "m").iterdir()} == before
