from __future__ import annotations

import pytest

from rankae import rivals
from rankae.experiments.ablate import ADDITIONS, FULL, PAPER, TEXT_ADDITIONS, ablate, additions_figure, paper_figure
from rankae.experiments.summary import Score, Summary

EVERYTHING = [*PAPER, FULL, *ADDITIONS, *TEXT_ADDITIONS]


@pytest.mark.parametrize("variant", EVERYTHING, ids=lambda v: v.name)
def test_every_variant_is_a_model_that_differs_from_the_full_one(variant) -> None:
    model = rivals.create(variant.method, **variant.parameters)
    if variant is not FULL:
        assert model.get_params() != rivals.create(FULL.method).get_params()


def summary_of(scores: dict[str, float]) -> Summary:
    names = [variant.name for variant in EVERYTHING]
    cells = {("d", name, f"P@{k}"): Score(scores.get(name, 50.0), 0.5, 3) for name in names for k in (1, 3)}
    return Summary(["d"], names, (1, 3), cells, {}, {}, {}, {})


def test_figures_show_what_was_measured() -> None:
    summary = summary_of({FULL.name: 60.0, "without rankers": 58.5, "No loss": 41.25})
    assert "without rankers, P@1: -1.50" in additions_figure(summary, "d")
    assert "No loss, P@3: 41.25" in paper_figure(summary, "d")


@pytest.mark.slow
def test_the_whole_ablation_runs(matrix: str, here, ran) -> None:
    summary = ablate([matrix], here())
    assert {status for _, status in ran} == {"done"}
    assert (here().folder / "matrix.additions.svg").exists()
    assert summary.scores["matrix", FULL.name, "P@1"].mean > 30
