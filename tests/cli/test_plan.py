"""`rankae train --plan` and `--memory` as a user runs them."""

from __future__ import annotations

import json


def test_the_plan_is_printed_and_nothing_else_happens(rankae, data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ran = rankae("train", data, "--plan", "--json", "--preset", "fast")
    assert ran.code == 0
    plan = json.loads(ran.out)
    assert plan["seconds"] > 0
    assert plan["model_bytes"] < plan["peak_bytes"] < 1e10
    assert plan["settings"]["effort"] == "low"
    assert list(tmp_path.iterdir()) == []
    assert "together" in rankae("train", data, "--plan").out


def test_a_busy_machine_is_told(rankae, data, monkeypatch):
    monkeypatch.setattr("rankae.recipe.plan.waiting_factor", lambda threads: 6.0)
    assert "by the clock it takes about 6.0 times as long" in rankae("train", data, "--plan", "--preset", "fast").out


def test_a_plan_is_for_the_recipe_only(rankae, data):
    for options in (("--method", "knn"), ("--preset", "paper")):
        ran = rankae("train", data, "--plan", *options)
        assert ran.code == 2
        assert "plans are made for" in ran.err


def test_without_model_or_plan(rankae, data):
    ran = rankae("train", data)
    assert ran.code == 2
    assert "--model DIR" in ran.err


def test_memory_that_cannot_be(rankae, data, tmp_path):
    ran = rankae("train", data, "--model", tmp_path / "m", "--memory", "10M")
    assert ran.code == 2
    assert "even with the smallest settings" in ran.err
    assert not (tmp_path / "m").exists()
    assert rankae("train", data, "--model", tmp_path / "m", "--memory", "lots").code == 2
