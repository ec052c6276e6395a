from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rankae.cli.experiment_options import places, rates
from rankae.errors import RankaeError
from rankae.experiments.cells import Store
from rankae.experiments.noise import losses, noise
from rankae.experiments.plan import Contender, Outcome, Series, contenders
from rankae.methods.rank_ae import RankAE


def test_curves_fall_and_every_figure_is_there(matrix: str, here, ran) -> None:
    summary = noise([matrix], contenders(["popular", "knn"]), here(), ["missing"], [0, 0.8], seeds=2, k=(1, 3))
    before, after = (summary.scores[f"matrix, missing {rate} %", "knn", "P@1"].mean for rate in (0, 80))
    assert before > after + 2
    # Without noise knn knows no chance, so one seed suffices; with noise each seed is another draw.
    assert ran.count(("knn", "done")) == 3
    out = here().folder
    assert sorted(p.name for p in out.glob("*.svg")) == ["matrix.missing.P1.svg", "matrix.missing.P3.svg"]
    figure = (out / "matrix.missing.P1.svg").read_text()
    assert "80 %" in figure
    assert "<polygon" in figure
    assert json.loads((out / "results.json").read_text())["rates"] == [0, 0.8]
    assert f"{after:.2f} ({before - after:.2f}" in (out / "table.md").read_text()


def test_the_least_loss_is_bold_and_what_test_rows_do_not_tell_from_it_is_marked(tmp_path: Path) -> None:
    """Of 100 rows, a loses 1 that c loses too, b loses 2, c loses 40."""
    store, outcomes = Store(tmp_path), []
    for method, lost in (("a", 1), ("b", 2), ("c", 40)):
        for rate in (0.0, 0.5):
            right = np.full(100, 100.0)
            right[: lost if rate else 0] = 0
            series = Series("some", Contender(method, method), noise=("missing", rate))
            store.keep(series.cell(0), result := {"scores": {"P@1": right.mean()}}, {"P@1": right})
            outcomes.append(Outcome(series, [series.cell(0)], [result]))
    grid = losses(outcomes, store, [0, 0.5], "P@1")
    assert grid.lines == [
        ["some, missing", "0 %", "100.00", "100.00", "100.00"],
        ["some, missing", "50 %", "99.00 (1.00)", "98.00 (2.00 †)", "60.00 (40.00)"],
    ]
    assert grid.bold == {(1, 2)}


def test_methods_are_run_anew_once(matrix: str, here, ran) -> None:
    plan = [matrix], contenders(["popular", "knn"]), here(), ["missing", "flip"], [0]
    noise(*plan, k=(1,))
    del ran[:]
    noise(*plan[:2], replace(here(), again=frozenset(["knn"])), *plan[3:], k=(1,))
    assert ran == [("knn", "done")]


def test_the_papers_networks_have_clean_rows_choose_the_epoch(matrix: str, here, monkeypatch) -> None:
    given = []
    fit = RankAE.fit_dataset

    def spy(self, data, trusted=None):
        given.append(trusted is not None)
        return fit(self, data, trusted)

    monkeypatch.setattr(RankAE, "fit_dataset", spy)
    paper = contenders(["bce-ae"], ["bce-ae.epochs=1", "bce-ae.word_size=8"])
    noise([matrix], paper, replace(here(), isolate=False), ["missing"], [0.5], tune_trials=2, k=(1,))
    assert given == [True] * 3  # two trials and the last fit


def test_no_noise_is_measured_once_for_all_kinds(matrix: str, here, ran) -> None:
    summary = noise([matrix], contenders(["knn"]), here(), ["missing", "flip"], [0, 0.5], k=(1,))
    assert len(ran) == 3
    clean = [summary.scores[f"matrix, {kind} 0 %", "knn", "P@1"].mean for kind in ("missing", "flip")]
    assert clean[0] == clean[1]


def test_a_method_that_trusts_rows_is_not_searched_for(matrix: str, here, ran) -> None:
    fast = contenders(["rank-ae"], ["rank-ae.preset=fast"])
    summary = noise([matrix], fast, here(), ["missing"], [0.5], tune_trials=3, k=(1,))
    assert ran == [("rank-ae", "done")]
    assert summary.scores["matrix, missing 50 %", "rank-ae", "P@1"].mean > 20


def test_mistakes_are_one_sentence(matrix: str, here) -> None:
    with pytest.raises(RankaeError, match="no noise 'hum'"):
        noise([matrix], contenders(["popular"]), here(), ["hum"])
    with pytest.raises(RankaeError, match="rate 1.5"):
        noise([matrix], contenders(["popular"]), here(), ["missing"], [0, 1.5])


def test_rates_may_go_on_by_dots() -> None:
    assert rates("0,.1,...,.6") == [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    assert rates("0, .5") == [0, 0.5]
    for wrong in ("", "0,...", "...,1", "a", "1,1,...,2"):
        with pytest.raises(RankaeError, match="--rates"):
            rates(wrong)


def test_places() -> None:
    assert places("5,1,3") == (1, 3, 5)
    for wrong in ("", "0,1", "a"):
        with pytest.raises(RankaeError, match="--k"):
            places(wrong)
