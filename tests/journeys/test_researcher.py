"""A researcher's rerun: the same seed, the same figures; a method of one's own beside the others; nothing run twice."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

from rankae import load, load_dataset, metrics

OWN = '''
import numpy as np
from rankae.rivals.popular import Popular


class Backwards(Popular):
    """The least frequent labels first: a floor below the floor."""

    method = "backwards"

    def _top(self, rows, k):
        columns, scores = super()._top(rows, len(self.classes_))
        return columns[:, ::-1][:, :k].copy(), -scores[:, ::-1][:, :k].copy()
'''


@pytest.fixture
def folder(articles, table, tmp_path, monkeypatch):
    (tmp_path / "articles").mkdir()
    table(tmp_path / "articles" / "train.csv", articles["train"])
    table(tmp_path / "articles" / "test.csv", articles["new"])
    (tmp_path / "mine.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield tmp_path
    sys.modules.pop("mine", None)


def test_the_same_seed_gives_the_same_model_and_figures_that_can_be_checked(rankae, folder):
    told = []
    for place in ("first", "second"):
        how = ("--model", folder / place, "--preset", "fast", "--seed", "3", "--json")
        facts = json.loads(rankae("train", "articles", *how).out)
        figures = json.loads(rankae("evaluate", folder / place, "articles", "--json").out)
        told.append((facts["fingerprint"], {name: value for name, value in figures.items() if "@" in name}))
    assert told[0] == told[1]
    first, second = (load(folder / place) for place in ("first", "second"))
    test = load_dataset("articles", "test", reading=first.reading_)
    for one, other in zip(first.predict_top(test.rows, 5), second.predict_top(test.rows, 5), strict=True):
        np.testing.assert_array_equal(one, other)
    columns, _ = first.top_columns(test.rows, 3)
    truth = test.aligned_to(first.classes_.tolist()).labels
    by_hand = 100 * np.mean([truth[i, c] for i, row in enumerate(columns) for c in row[:1]])
    assert told[0][1]["P@1"] == pytest.approx(by_hand, abs=1e-3)
    assert metrics.evaluate(columns, truth, k=[3])["P@3"] == pytest.approx(told[0][1]["P@3"], abs=1e-3)


def test_a_comparison_with_ones_own_method_is_not_run_twice(rankae, folder):
    command = ("compare", "articles", "--methods", "knn,popular,mine:Backwards", "--no-isolate", "--json", "-o", "out")
    first = rankae(*command)
    assert first.code == 0
    assert first.err.count("seed 0: P@1") == 3
    again = rankae(*command)
    assert (again.code, again.err) == (0, "")
    assert json.loads(again.out) == json.loads(first.out)
    table = (folder / "out" / "table.md").read_text()
    assert "mine:Backwards" in table


def test_a_search_takes_nothing_that_chance_would_give(rankae, folder):
    pytest.importorskip("optuna", reason="needs the extra 'tune'")
    told = json.loads(rankae("tune", "articles", "--method", "knn", "--trials", "3", "--json", "-o", "tuned").out)
    gain = told["over_defaults"]
    assert gain is None or gain["taken"] == (gain["gain"] > gain["by_chance"])
    assert (told["parameters"] == {}) == (gain is None or not gain["taken"])
    assert json.loads(rankae("evaluate", "tuned/model", "articles", "--json").out)["P@1"] > 60


def test_data_that_is_not_here_says_where_it_is_or_how_to_build_it(rankae, folder, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    assert "run `rankae data fetch eurlex-4k`" in rankae("train", "eurlex-4k", "--model", "m").err
    assert "build it from" in rankae("data", "fetch", "debtags").err
