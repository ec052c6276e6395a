"""`rankae evaluate`: the figures, and data whose columns are not the model's."""

from __future__ import annotations

import json

import numpy as np
import pytest

from rankae import metrics
from rankae.base.evaluation import training_labels
from rankae.cli.measuring import matched
from rankae.data import load_dataset
from rankae.methods import create, load


def test_the_figures_are_those_of_the_metrics(rankae, data, model):
    ended = rankae("evaluate", model, data, "--k", "3,1", "--json")
    assert (ended.code, ended.err) == (0, "")
    told = json.loads(ended.out)
    ranker, train, test = load(model), load_dataset(data), load_dataset(data, "test")
    test = test.aligned_to(ranker.classes_)
    columns, _ = ranker.top_columns(test.rows, 3)
    for name, value in metrics.evaluate(columns, test.labels, [1, 3], train.aligned_to(ranker.classes_).labels).items():
        assert told[name] == pytest.approx(value, abs=1e-4)
    assert (told["rows"], told["method"], told["split"]) == (20, "knn", "test")
    assert "P@5" not in told


def test_the_table(rankae, data, model):
    shown = rankae("evaluate", model, data).out
    assert all(f"{name}@{k}" in shown for name in ("P", "nDCG", "PSP") for k in (1, 3, 5))


@pytest.mark.parametrize(("options", "told"), [(["--k", "0"], "--k takes"), (["--split", "dev"], "no 'dev' split")])
def test_mistakes(rankae, data, model, options, told):
    ended = rankae("evaluate", model, data, *options)
    assert ended.code == 2
    assert told in ended.err


def test_other_labels_are_told_apart_from_a_bad_model(rankae, model, tmp_path):
    (tmp_path / "other.jsonl").write_text('{"text": "a", "labels": ["never seen"]}\n')
    ended = rankae("evaluate", model, tmp_path / "other.jsonl")
    assert ended.code == 2
    assert "knows none of its labels" in ended.err


def test_unnamed_columns_and_missing_features_are_matched(tmp_path):
    (tmp_path / "train.txt").write_text("3 4 3\n0 0:1\n1,2 1:1 3:1\n2 2:1\n")
    (tmp_path / "labels.txt").write_text("red\ngreen\nblue\n")
    (tmp_path / "new.txt").write_text("0 0:1\n1 1:1\n")  # no header, no names, fewer features
    ranker = create("knn").fit_dataset(load_dataset(tmp_path))
    found = matched(ranker, load_dataset(tmp_path / "new.txt"))
    assert found.n_features == 4
    assert found.labels.toarray()[:, :3].tolist() == [[1, 0, 0], [0, 1, 0]]


def test_propensities_come_from_the_counts_of_training_rows(data):
    train = load_dataset(data)
    ranker = create("popular").fit_dataset(train)
    stood_in = metrics.inverse_propensities(training_labels(ranker))
    np.testing.assert_allclose(stood_in, metrics.inverse_propensities(train.labels))


def test_the_training_rows_are_not_taken_for_new_ones(rankae, data, model, tmp_path):
    rankae("train", data, "--model", tmp_path / "m", "--method", "popular")
    told = rankae("evaluate", tmp_path / "m", data, "--split", "train", "--json")
    assert told.code == 0
    assert "trained on these rows" in told.err
    assert json.loads(told.out)["trained_on_these_rows"]
    told = rankae("evaluate", tmp_path / "m", data, "--json")
    assert (told.err, json.loads(told.out)["trained_on_these_rows"]) == ("", False)


def test_the_best_attainable_stands_beside_what_few_labels_per_row_allow(rankae, data, model):
    found = json.loads(rankae("evaluate", model, data, "--json").out)
    counts = np.diff(load_dataset(data, "test").labels.indptr)
    for k in (1, 3, 5):
        assert found[f"P@{k}-best"] == pytest.approx(100 * np.minimum(counts, k).mean() / k, abs=1e-3)
        assert found[f"P@{k}"] <= found[f"P@{k}-best"]
    assert "best attainable" in rankae("evaluate", model, data).out


def test_rows_without_labels_measure_nothing(rankae, model, tmp_path):
    (tmp_path / "rows.jsonl").write_text('{"text": "a", "labels": []}\n' * 3)
    ended = rankae("evaluate", model, tmp_path / "rows.jsonl")
    assert (ended.code, ended.out) == (2, "")
    assert "no row has a label" in ended.err


def test_labels_that_the_model_does_not_know_are_told(rankae, data, model, tmp_path):
    known = json.loads((data / "test.jsonl").read_text().splitlines()[0])
    rows = [known | {"labels": [known["labels"][0], "unheard of"]}, known | {"labels": known["labels"][:1]}]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert "33.33 % of the labels are unknown to the model" in rankae("evaluate", model, tmp_path / "rows.jsonl").out
    assert json.loads(rankae("evaluate", model, data, "--json").out)["unknown_labels"] == 0
