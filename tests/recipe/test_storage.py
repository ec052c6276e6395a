"""Trained models are stored as small as validation rows let them, and predict the same once they are loaded."""

from __future__ import annotations

import numpy as np
import pytest

from rankae import RankAE
from rankae.components.ranker_weights import RankerWeights
from rankae.data import make_dataset
from rankae.metrics import precisions
from rankae.numerics.table import Table
from rankae.recipe import fitting


@pytest.fixture(scope="module")
def data():
    return make_dataset(rows=800, labels=60, features=3000, test_rows=200)


def test_a_trained_model_is_small_and_comes_back(data, tmp_path, monkeypatch):
    train, test = data
    small = RankAE("fast", threads=1).fit_dataset(train)
    assert isinstance(small.model_.code.word_table, Table)
    assert isinstance(small.model_.rankers, RankerWeights)
    assert small.choices_["storage of code"]["evidence"]
    small.save(tmp_path / "small")
    again = RankAE.load(tmp_path / "small")
    for own, other in zip(small.predict_top(test.texts, 5), again.predict_top(test.texts, 5), strict=True):
        np.testing.assert_array_equal(own, other)
    monkeypatch.setattr(fitting, "stored_small", lambda stack, *_: (stack, {}))
    large = RankAE("fast", threads=1).fit_dataset(train)
    assert not isinstance(large.model_.code.word_table, Table)
    large.save(tmp_path / "large")
    sizes = [(tmp_path / name / "model.safetensors").stat().st_size for name in ("small", "large")]
    assert sizes[0] < 0.5 * sizes[1]
    found = [precisions(model.top_columns(test.texts, 5)[0], test.labels) for model in (small, large)]
    assert abs(found[0]["P@5"] - found[1]["P@5"]) < 1


def test_shrinking_a_small_model_does_not_enlarge_it(data, tmp_path):
    model = RankAE("fast", threads=1).fit_dataset(data[0])
    for precision in ("float16", "int8"):
        smaller = model.shrunk(precision).model_
        assert smaller.code.word_table.values.dtype == np.int8


def test_training_goes_on_from_a_small_model(data):
    train, test = data
    model = RankAE("fast", threads=1).fit_dataset(train)
    model.partial_fit(test.texts, [[train.label_names[i] for i in row.indices] for row in test.labels])
    assert len(model.predict_top(test.texts[:3], 2)[0]) == 3
