"""`rankae index` and `rankae shrink`: models that are changed on disk, and what the commands say about it."""

from __future__ import annotations

import json

import numpy as np
import pytest

from rankae import RankAE, load
from rankae.data import load_dataset
from rankae.model_file import read_model


@pytest.fixture(scope="session")
def rank_ae(data, tmp_path_factory):
    place = tmp_path_factory.mktemp("models") / "rank-ae"
    model = RankAE("fast", code_size=8, ngrams=(1, 1)).fit_dataset(load_dataset(data))
    model.save(place, metrics={"P@1": 50.0})
    return place


def test_an_index_is_built_measured_saved_and_removed(rankae, rank_ae, data):
    pytest.importorskip("usearch")
    texts = load_dataset(data, "test").rows
    before = load(rank_ae).predict_top(texts, 3)
    ended = rankae("index", rank_ae, "--k", "5", "--check", data, "--json")
    assert (ended.code, ended.err) == (0, "")
    figures = json.loads(ended.out)
    assert figures["recall@5"] >= 0.95
    assert figures["rows"] == 20
    indexed = load(rank_ae)
    assert indexed.model_.index is not None
    np.testing.assert_allclose(indexed.predict_top(texts, 3)[1], before[1], rtol=1e-3)
    facts = read_model(rank_ae).facts
    assert facts["metrics"] == {"P@1": 50.0}
    assert facts["index"] == figures
    assert "recall@5" in rankae("index", rank_ae, "--k", "5").out
    assert rankae("index", rank_ae, "--exact").code == 0
    assert load(rank_ae).model_.index is None


@pytest.mark.parametrize("tables", ["float16", "int8"])
def test_a_smaller_model_is_written_and_measured(rankae, rank_ae, data, tmp_path, tables):
    ended = rankae("shrink", rank_ae, tmp_path / "small", "--tables", tables, "--check", data, "--json")
    assert (ended.code, ended.err) == (0, "")
    told = json.loads(ended.out)
    assert told["after"]["bytes"] < told["before"]["bytes"]
    assert abs(told["after"]["P@1"] - told["before"]["P@1"]) <= 10  # two of twenty rows
    assert load(tmp_path / "small").model_.code.word_table.values.dtype == np.dtype(tables)
    assert read_model(tmp_path / "small").facts["metrics"] == {"P@1": 50.0}


def test_mistakes(rankae, rank_ae, model, tmp_path):
    for arguments, told in [
        (["shrink", rank_ae, tmp_path / "small", "--tables", "int3"], "float16, int8"),
        (["shrink", model, tmp_path / "small"], "method knn"),
        (["index", model], "method knn"),
        (["index", rank_ae, "--recall", "2"], "between 0 and 1"),
    ]:
        ended = rankae(*arguments)
        assert ended.code == 2
        assert told in ended.err
    assert not (tmp_path / "small").exists()
