"""What training will cost is told before it starts, and settings are found that keep within the memory there is."""

from __future__ import annotations

import json

import pytest

from rankae import RankAE
from rankae.cli.plan import parse_size
from rankae.data import make_dataset
from rankae.errors import RankaeError
from rankae.recipe.plan import free_memory


@pytest.fixture(scope="module")
def rows():
    return make_dataset(rows=2000, labels=3000, features=4000, test_rows=10, text=False)[0]


def test_the_plan_tells_the_size_of_the_model(rows, tmp_path):
    plan = RankAE("fast", threads=1).plan(rows.features, rows.labels)
    model = RankAE("fast", threads=1, tuning=False).fit_dataset(rows)
    model.save(tmp_path / "model")
    size = sum(file.stat().st_size for file in (tmp_path / "model").iterdir())
    assert 0.5 < sum(plan.model.values()) / size < 2
    assert plan.changed == {}


def test_more_rows_cost_more(monkeypatch):
    monkeypatch.setattr("rankae.recipe.plan.machine_speed", lambda: 1.0)  # a busy machine is slower at one of the two

    def plan(rows: int):
        data = make_dataset(rows=rows, labels=500, features=2000, test_rows=1, text=False)[0]
        return RankAE("fast").plan(data.features, data.labels)

    few, many = plan(500), plan(5000)
    assert sum(many.seconds.values()) > sum(few.seconds.values())
    assert many.peak > few.peak


def test_settings_shrink_until_they_fit_and_what_was_set_stays(rows):
    whole = RankAE("default").plan(rows.features, rows.labels)
    less = RankAE("default").plan(rows.features, rows.labels, memory=0.98 * whole.peak)
    assert less.changed
    assert less.peak <= 0.98 * whole.peak
    large = RankAE("default", random_negatives=40, proposed=40)
    fixed = large.plan(rows.features, rows.labels, 0.99 * large.plan(rows.features, rows.labels).peak)
    assert not {"random_negatives", "proposed"} & set(fixed.changed)


def test_too_little_memory_is_one_sentence(rows):
    with pytest.raises(RankaeError, match=r"needs about 0\.\d GB of memory even with the smallest settings"):
        RankAE("fast").plan(rows.features, rows.labels, memory=1e6)


def test_texts_are_counted_on_a_sample():
    data = make_dataset(rows=300, labels=20, test_rows=1)[0]
    plan = RankAE("fast").plan(data.texts, data.labels)
    model = RankAE("fast").fit_dataset(data)
    assert 0.3 < plan.model["start"] / (model.n_features_in_ * (plan.settings.code_size / 2 + 4)) < 3


def test_free_memory_is_less_than_a_petabyte():
    assert 1e6 < free_memory() < 1e15


@pytest.mark.parametrize("size", ["", "much", "0", "-3G", "8 parsecs"])
def test_sizes_that_mean_nothing(size):
    with pytest.raises(RankaeError, match="give a size such as 8G"):
        parse_size(size)


def test_sizes():
    assert parse_size("8G") == parse_size("8 gib") == 8 * 2**30
    assert parse_size("500m") == 500 * 2**20
    assert parse_size("1000000") == 1e6
    assert json.dumps(parse_size("1k")) == "1024.0"
