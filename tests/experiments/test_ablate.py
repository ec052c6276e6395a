from __future__ import annotations

import pytest

from rankae.base.choices import choice, describe
from rankae.experiments.ablate import (
    ADDITIONS,
    DOES_WITHOUT,
    FULL,
    PAPER,
    TEXT_ADDITIONS,
    ablate,
    additions_figure,
    does_without,
    paper_figure,
)
from rankae.experiments.plan import Outcome, Series
from rankae.experiments.summary import Score, Summary
from rankae.methods import registry
from rankae.methods.rank_ae import RankAE

EVERYTHING = [*PAPER, FULL, *ADDITIONS, *TEXT_ADDITIONS]


@pytest.mark.parametrize("variant", EVERYTHING, ids=lambda v: v.name)
def test_every_variant_is_a_model_that_differs_from_the_full_one(variant) -> None:
    model = registry.create(variant.method, **variant.parameters)
    if variant is not FULL:
        assert model.get_params() != registry.create(FULL.method).get_params()


def full_that_chose(**choices: object) -> Outcome:
    return Outcome(Series("d", FULL), [], [{"choices": choices}])


@pytest.mark.parametrize("variant", [*ADDITIONS, *TEXT_ADDITIONS], ids=lambda v: v.name)
def test_what_the_default_does_without_is_not_switched_off(variant) -> None:
    off = {name: choice(name, value, "why") for name, value in DOES_WITHOUT.items()}
    on = {
        "network": 3, "tuning": True, "rankers": True, "neighbours": True, "ngrams": (1, 2), "title": 0.5,
        "pieces": True, "word_vectors": "a file",
    }  # fmt: skip
    on = {name: choice(name, value, "why") for name, value in on.items()}
    assert does_without(variant, full_that_chose(**off))
    assert not does_without(variant, full_that_chose(**on))
    one_of_two = Outcome(Series("d", FULL, 2), [], [{"choices": off}, {"choices": on}])
    assert not does_without(variant, one_of_two)
    assert does_without(variant, full_that_chose(**{name: describe(one) for name, one in off.items()}))  # older cells
    assert not does_without(variant, full_that_chose(**{name: describe(one) for name, one in on.items()}))


def test_the_default_records_its_choices_as_the_ablation_reads_them() -> None:
    texts = ["red apple", "green apple", "red wine", "white wine"] * 30
    model = RankAE(network=0).fit(texts, [["fruit"], ["fruit"], ["drink"], ["drink"]] * 30)
    for name in ("network", "tuning", "rankers", "neighbours", "ngrams", "pieces"):
        assert {"setting", "value", "reason", "evidence"} == set(model.choices_[name])
    full = full_that_chose(**model.choices_)
    without = {variant.name: does_without(variant, full) for variant in [*ADDITIONS, *TEXT_ADDITIONS]}
    assert without["without network"]
    assert without["without channel attention"]
    assert without["without word pairs"] == (model.text_.ngrams == (1, 1))
    assert without["without pieces of words"]
    assert without["without titles"]
    assert not without["without rankers"]


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
