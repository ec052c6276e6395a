"""A sceptic's five minutes: is it chance, is it the training rows, is the file what it seems, does the model open?"""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest

from rankae import load
from rankae.methods import create


@pytest.fixture(scope="module")
def texts(articles):
    return {split: ([a.text for a in own], [a.tags for a in own]) for split, own in articles.items()}


@pytest.fixture
def trained(rankae, articles, table, tmp_path):
    table(tmp_path / "train.csv", articles["train"])
    table(tmp_path / "new.csv", articles["new"])
    ended = rankae("train", tmp_path / "train.csv", "--model", tmp_path / "m", "--method", "knn")
    assert (ended.code, ended.err) == (0, "")
    return tmp_path


def test_shuffled_labels_are_not_learnt(texts):
    X, Y = texts["train"]
    shuffled = [Y[i] for i in np.random.default_rng(0).permutation(len(Y))]
    truth = create("knn").fit(X, Y).evaluate(*texts["new"])["P@1"]
    chance = create("knn").fit(X, shuffled).evaluate(*texts["new"])["P@1"]
    floor = create("popular").fit(X, Y).evaluate(*texts["new"])["P@1"]
    assert chance < floor + 25 < truth


def test_figures_on_training_rows_come_with_a_warning(rankae, trained):
    flattering = rankae("evaluate", trained / "m", trained / "train.csv", "--json")
    assert "trained on these rows" in flattering.err
    assert json.loads(flattering.out)["trained_on_these_rows"]
    plain = rankae("evaluate", trained / "m", trained / "new.csv")
    assert plain.err == ""
    assert "best attainable" in plain.out


def test_rows_that_stand_in_both_splits_are_counted(rankae, trained, articles, table):
    (trained / "both").mkdir()
    table(trained / "both" / "train.csv", articles["train"])
    table(trained / "both" / "test.csv", [*articles["new"], *articles["train"][:7]])
    assert json.loads(rankae("data", "info", trained / "both", "--json").out)["also_in_train"] == {"test": 7}


def test_a_second_file_and_a_second_value_are_not_dropped(rankae, trained, articles, table):
    (trained / "two").mkdir()
    for name in ("train.csv", "train2.csv"):
        table(trained / "two" / name, articles["new"])
    assert "train2.csv looks like a part of the train split" in rankae("data", "info", trained / "two").err
    (trained / "twice.jsonl").write_text('{"text": "a", "labels": ["x"], "labels": ["y"]}\n')
    assert "is given twice" in rankae("data", "info", trained / "twice.jsonl").err


def test_a_damaged_model_is_refused_and_a_replaced_one_is_kept(rankae, trained):
    shutil.copytree(trained / "m", trained / "damaged")
    file = trained / "damaged" / "model.safetensors"
    content = bytearray(file.read_bytes())
    content[-3] ^= 1
    file.write_bytes(content)
    refused = rankae("predict", trained / "damaged", trained / "new.csv")
    assert (refused.code, refused.out, refused.err.count("\n")) == (2, "", 1)
    how = ("train", trained / "new.csv", "--model", trained / "m", "--method", "knn")
    assert rankae(*how).code == 2
    assert rankae(*how, "--force").code == 0
    assert load(trained / "m.before").training_rows_ == 260


def test_labels_of_one_row_each_are_found(rankae):
    """Each row its own label: on its own training rows the nearest row is the row itself."""
    rng = np.random.default_rng(0)
    words = [f"w{i}" for i in range(400)]
    X = [" ".join(rng.choice(words, 20)) for _ in range(150)]
    Y = [[f"label {i}"] for i in range(150)]
    assert create("knn").fit(X, Y).score(X, Y) > 0.95
