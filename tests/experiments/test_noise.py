from __future__ import annotations

import json

import pytest

from rankae.cli.experiment_options import places, rates
from rankae.errors import RankaeError
from rankae.experiments.noise import losses, noise
from rankae.experiments.plan import contenders


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
    grid = losses(summary, ["matrix"], ["missing"], [0, 0.8], "P@1")
    assert float(grid.lines[0][2 + summary.methods.index("knn")]) == pytest.approx(before - after, abs=0.01)


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
