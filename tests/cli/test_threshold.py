"""`rankae threshold`: a cut is chosen on unseen rows, kept, and used by predict and evaluate."""

from __future__ import annotations

import json
import shutil

import pytest

from rankae.data import load_dataset
from rankae.methods import create, load


@pytest.fixture(scope="module")
def fast(data, tmp_path_factory):
    """A model that calibrates itself."""
    from rankae.cli.fitting import fit_and_save

    place = tmp_path_factory.mktemp("models") / "fast"
    fit_and_save(create("rank-ae", preset="fast"), load_dataset(data), place)
    return place


@pytest.fixture
def own(fast, tmp_path):
    shutil.copytree(fast, tmp_path / "model")
    return tmp_path / "model"


def test_training_rows_that_were_held_out_choose_the_cut(rankae, data, own):
    ended = rankae("threshold", own, data, "--aim", "precision=0.8", "--json")
    assert (ended.code, ended.err) == (0, "")
    told = json.loads(ended.out)
    assert told["precision"] >= 80
    assert "that training held out" in told["source"]
    kept = load(own)
    assert kept.cuts_.overall == told["cut"]
    assert kept.facts_["rows"] == 80
    lines = [json.loads(line) for line in rankae("predict", own, data / "test.jsonl").out.splitlines()]
    assert all(p >= told["cut"] - 1e-6 for line in lines for p in line["probabilities"])
    whole = [json.loads(line) for line in rankae("predict", own, data / "test.jsonl", "--all").out.splitlines()]
    assert {len(line["labels"]) for line in whole} == {5}
    shown = json.loads(rankae("evaluate", own, data, "--json").out)
    assert shown["labels_per_row"] == pytest.approx(sum(len(line["labels"]) for line in lines) / 20, abs=1e-3)


def test_the_table_and_the_guarantee(rankae, data, own, tmp_path):
    ended = rankae("threshold", own, data, "--aim", "recall=0.6", "--report", tmp_path / "curve.html")
    assert ended.code == 0
    assert "expected recall of at least 0.6" in ended.out
    assert "of the labels of a row" in ended.out
    assert "predict and serve use it" in ended.out
    assert "<svg" in (tmp_path / "curve.html").read_text()


def test_a_rival_is_calibrated_on_the_rows_it_is_given(rankae, data, model, tmp_path):
    shutil.copytree(model, tmp_path / "knn")
    before = rankae("predict", model, data / "test.jsonl", "-k", "2").out
    assert json.loads(before.splitlines()[0])["probabilities"] is None
    ended = rankae("threshold", tmp_path / "knn", data, "--json")
    assert "the first 40 calibrated the model" in json.loads(ended.out)["source"]
    after = rankae("predict", tmp_path / "knn", data / "test.jsonl", "-k", "2", "--all").out
    assert json.loads(after.splitlines()[0])["scores"] == json.loads(before.splitlines()[0])["scores"]
    assert max(json.loads(after.splitlines()[0])["probabilities"]) > 0


def test_a_dry_run_leaves_the_model_alone(rankae, data, own):
    before = {path.name: path.read_bytes() for path in own.iterdir()}
    assert rankae("threshold", own, data, "--dry-run").code == 0
    assert {path.name: path.read_bytes() for path in own.iterdir()} == before


@pytest.mark.parametrize(
    ("options", "told"), [(["--aim", "f3"], "give f1, count"), (["--aim", "recall=0.999"], "cannot be reached")]
)
def test_mistakes_leave_the_model_alone(rankae, data, own, options, told):
    before = (own / "model.json").read_bytes()
    ended = rankae("threshold", own, data, *options)
    assert (ended.code, ended.out) == (2, "")
    assert told in ended.err
    assert (own / "model.json").read_bytes() == before


def test_rows_without_labels_are_refused(rankae, own, tmp_path):
    (tmp_path / "bare.jsonl").write_text('{"text": "a", "labels": []}\n')
    ended = rankae("threshold", own, tmp_path / "bare.jsonl")
    assert ended.code == 2
    assert "carry no labels" in ended.err


def test_too_few_rows_choose_no_cut(rankae, data, own, tmp_path):
    lines = (data / "test.jsonl").read_text().splitlines()[:5]
    (tmp_path / "five.jsonl").write_text("\n".join(lines) + "\n")
    before = (own / "model.json").read_bytes()
    ended = rankae("threshold", own, tmp_path / "five.jsonl")
    assert (ended.code, ended.out) == (2, "")
    assert "5 rows are too few to choose a cut on; give at least 20" in ended.err
    assert (own / "model.json").read_bytes() == before


def test_evaluate_says_which_cut_it_measures(rankae, data, own):
    assert "no cut is stored" in rankae("evaluate", own, data, "--threshold").out
    rankae("threshold", own, data, "--aim", "count")
    assert "cut for count (p >= 0." in rankae("evaluate", own, data, "--threshold").out
    assert json.loads(rankae("evaluate", own, data, "--json").out)["cut"] == "count"
    assert "p >= 0.3: micro-F1" in rankae("evaluate", own, data, "--cut", "0.3").out


def test_evaluate_writes_a_table_of_labels_and_a_page(rankae, data, own, tmp_path):
    ended = rankae(
        "evaluate", own, data, "--threshold", "--per-label", tmp_path / "l.csv", "--report", tmp_path / "p.html"
    )
    assert ended.code == 0
    assert "micro-F1" in ended.out
    assert "ECE@1" in ended.out
    head, *lines = (tmp_path / "l.csv").read_text().splitlines()
    assert head == "label,support,given,precision,recall,F1,most_confused_with"
    assert len(lines) <= 10
    assert "Reliability" in (tmp_path / "p.html").read_text()
    at = json.loads(rankae("evaluate", own, data, "--cut", "0.99", "--json").out)
    assert (
        at["labels_per_row"]
        < json.loads(rankae("evaluate", own, data, "--cut", "0.01", "--json").out)["labels_per_row"]
    )
