from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from rankae.base.search_space import Between
from rankae.data import make_dataset, split_rows, write_dataset
from rankae.errors import MissingExtra, RankaeError
from rankae.experiments.tune import search_parameters
from rankae.experiments.tuned_model import tune_and_refit
from rankae.methods import registry
from rankae.methods.presets import preset_settings

optuna = pytest.importorskip("optuna")


@pytest.fixture(scope="module")
def parts():
    data, _ = make_dataset(250, labels=20, features=300, text=False, seed=3)
    keep, held = split_rows(len(data), 0.2)
    return data.take(keep), data.take(held)


@pytest.mark.parametrize("method", registry.names())
def test_every_parameter_that_is_searched_exists_and_is_a_range(method: str) -> None:
    try:
        space, known = registry.search_space(method), registry.class_of(method)._get_param_names()
    except MissingExtra as missing:
        pytest.skip(str(missing))
    assert set(space) <= set(known)
    assert bool(space) == (method != "popular")
    for values in space.values():
        if isinstance(values, Between):
            assert values.low < values.high
            assert values.low > 0 or not values.log


def test_the_first_trial_is_the_defaults_and_the_best_trial_wins(parts) -> None:
    found = search_parameters("knn", *parts, trials=6)
    assert found.history[0]["parameters"] == {}
    assert len(found.history) == found.trials == 6
    assert found.value == max(trial["value"] for trial in found.history) >= found.history[0]["value"]
    assert found.importance == {"neighbours": pytest.approx(1.0)}


def test_a_search_goes_on_where_it_stopped(parts, tmp_path: Path) -> None:
    told: list[int] = []

    def tell(number: int, best: float | None) -> None:
        told.append(number)

    def search(trials: int):
        return search_parameters("knn", *parts, trials=trials, study_file=tmp_path / "s", tell=tell)

    first = search(2)
    assert told == [1, 2]
    more = search(4)
    assert told == [1, 2, 3, 4]
    assert more.history[:2] == first.history
    assert search(4).parameters == more.parameters
    assert told == [1, 2, 3, 4]
    drawn = [trial["parameters"]["neighbours"] for trial in more.history[1:]]
    assert len(set(drawn)) > 1
    with pytest.raises(RankaeError, match="method knn, not one-vs-rest"):
        search_parameters("one-vs-rest", *parts, trials=1, study_file=tmp_path / "s")


def test_an_interruption_costs_only_the_trial_at_hand(parts, tmp_path: Path, monkeypatch) -> None:
    from rankae.rivals.knn import NearestRows

    whole, calls = NearestRows._fit, []

    def interrupted(self, rows, labels):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        whole(self, rows, labels)

    monkeypatch.setattr(NearestRows, "_fit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        search_parameters("knn", *parts, trials=4, study_file=tmp_path / "s")
    found = search_parameters("knn", *parts, trials=4, study_file=tmp_path / "s")
    assert sum(trial["state"] == "complete" for trial in found.history) >= 3


def test_hopeless_trials_are_pruned_on_a_share_of_the_rows(parts, monkeypatch) -> None:
    monkeypatch.setattr("rankae.experiments.tune.FEWEST_ROWS_TO_SHARE", 10)
    monkeypatch.setattr("rankae.experiments.tune.TRIALS_BEFORE_PRUNING", 2)
    found = search_parameters("knn", *parts, trials=12)
    states = [trial["state"] for trial in found.history]
    assert "pruned" in states
    assert "complete" in states


def test_trials_that_fail_are_left_out_and_a_search_of_failures_says_so(parts, monkeypatch) -> None:
    from rankae.rivals.knn import NearestRows

    whole = NearestRows._fit

    def fails_for_many(self, rows, labels):
        if self.neighbours > 20:
            raise np.linalg.LinAlgError("no")
        whole(self, rows, labels)

    monkeypatch.setattr(NearestRows, "_fit", fails_for_many)
    found = search_parameters("knn", *parts, trials=8)
    assert {trial["state"] for trial in found.history} == {"complete", "fail"}
    monkeypatch.setattr(NearestRows, "_fit", lambda *_: (_ for _ in ()).throw(RankaeError("no")))
    with pytest.raises(RankaeError, match="none of 2 trials .*: no$"):
        search_parameters("knn", *parts, trials=2)


def test_given_parameters_are_not_searched(parts) -> None:
    with pytest.raises(RankaeError, match="no parameters to search"):
        search_parameters("knn", *parts, trials=1, fixed={"neighbours": 5})


def test_a_missing_package_is_one_sentence(parts, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(MissingExtra, match=r"rankae\[tune\]"):
        search_parameters("knn", *parts, trials=1)


def test_the_end_is_a_model_a_page_and_a_preset(parts, tmp_path: Path) -> None:

    write_dataset(parts[0], tmp_path / "data" / "train.txt")
    out = tmp_path / "out"
    found, _ = tune_and_refit(str(tmp_path / "data"), "one-vs-rest", out, trials=2)
    model = registry.load(out / "model")
    assert {name: getattr(model, name) for name in found.parameters} == found.parameters
    assert json.loads((out / "preset.json").read_text()) == found.parameters
    assert json.loads((out / "tuning.json").read_text())["trials"] == 2
    assert "<svg" in (out / "tuning.html").read_text()


def test_a_gain_within_chance_leaves_the_defaults(parts, tmp_path: Path, monkeypatch) -> None:
    """Of trials that differ by luck alone the best is ahead of the defaults, and is not taken."""
    luck = np.random.default_rng(0)
    monkeypatch.setattr(
        "rankae.experiments.tune.row_precisions",
        lambda method, parameters, learn, check, *rest: np.full(len(check), 50.0 if parameters else 40.0),
    )
    monkeypatch.setattr("rankae.experiments.beyond_chance.row_precisions", lambda m, p, learn, c, *rest: rows[bool(p)])
    write_dataset(parts[0], tmp_path / "data" / "train.txt")
    base = np.full(200, 50.0)
    noise = luck.normal(0, 10, 200)
    for gain, taken in ((0.05, False), (10.0, True)):
        rows = {False: base, True: base + gain + noise - noise.mean()}
        found, told = tune_and_refit(str(tmp_path / "data"), "knn", tmp_path / f"out{taken}", trials=8)
        assert told is not None
        assert told.gain == pytest.approx(gain)
        assert 0.7 < told.by_chance < 10
        assert (told.is_real, bool(found.parameters)) == (taken, taken)
        assert json.loads((tmp_path / f"out{taken}" / "tuning.json").read_text())["over_defaults"]["taken"] == taken
        assert bool(json.loads((tmp_path / f"out{taken}" / "preset.json").read_text())) == taken
        assert ("the defaults are kept" in told.describe()) != taken


def test_a_preset_of_rank_ae_is_one_that_train_takes(tmp_path: Path) -> None:
    """What `tune` writes for the paper's model: its name's parameters, then the ones found."""
    preset = registry.METHODS["bce-ae"].parameters | {"balance": 2.0}
    (tmp_path / "preset.json").write_text(json.dumps(preset))
    base, settings = preset_settings(str(tmp_path / "preset.json"))
    assert base == "paper"
    assert (settings["loss"], settings["balance"]) == ("bce", 2.0)
