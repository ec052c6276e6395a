"""Dense features at one scale."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_wine

from rankae import RankAE
from rankae.data.scaling import Scaling
from rankae.errors import RankaeError
from rankae.explain import explain


def _problem(rows: int = 300, features: int = 12) -> tuple[np.ndarray, np.ndarray]:
    """Labels that say which features are above their mean; all features are positive."""
    rng = np.random.default_rng(0)
    values = rng.normal(0, 1, (rows, features))
    return (5 + values).astype(np.float32), (values[:, :6] > 0.7).astype(np.int64)


def _model(**settings) -> RankAE:
    return RankAE("fast", random_state=0, **settings)


def test_features_have_a_mean_of_0_and_a_deviation_of_1() -> None:
    rows = np.array([[1.0, 2, 7], [3, 2, 0], [5, 2, 2]], np.float32)
    scaled = Scaling.of(sp.csr_matrix(rows), "standard")(sp.csr_matrix(rows)).toarray()
    np.testing.assert_allclose(scaled[:, [0, 2]].mean(0), 0, atol=1e-6)
    np.testing.assert_allclose(scaled[:, [0, 2]].std(0), 1, rtol=1e-5)
    np.testing.assert_allclose(scaled[:, 1], 0, atol=1e-6)  # it does not vary


def test_centred_features_keep_their_deviation() -> None:
    rows = np.array([[1.0, 2, 7], [3, 2, 0], [5, 2, 2]], np.float32)
    scaled = Scaling.of(sp.csr_matrix(rows), "centre")(sp.csr_matrix(rows)).toarray()
    np.testing.assert_allclose(scaled[:, :3], rows - rows.mean(0), rtol=1e-5)


@pytest.mark.parametrize("scale", ["centre", "standard"])
def test_a_constant_says_what_the_mean_has_said_in_the_unit_of_the_rows(scale: str) -> None:
    rows = sp.csr_matrix(np.random.default_rng(0).normal(5, 1, (50, 8)).astype(np.float32))
    scaled = Scaling.of(rows, scale)(rows).toarray()
    assert np.ptp(scaled[:, -1]) == 0
    length = np.sqrt((scaled[:, :-1] ** 2).sum(1).mean())
    np.testing.assert_allclose(scaled[0, -1], 0.3 * length, rtol=1e-4)


def test_a_feature_that_does_not_vary_in_training_does_not_rule_rows_where_it_does() -> None:
    scaling = Scaling.of(sp.csr_matrix(np.full((4, 1), 3.0, np.float32)), "standard")
    assert np.abs(scaling(sp.csr_matrix([[4.0]])).toarray()).max() <= 1


def test_leave_one_out_scores_choose_it_and_the_unit_of_a_feature_no_longer_matters() -> None:
    X, Y = _problem()
    units = np.linspace(0.1, 50, 12, dtype=np.float32)
    model, other = _model().fit(X, Y), _model().fit(X * units, Y)
    assert model.choices_["scale"]["value"] in ("centre", "standard")
    assert other.choices_["scale"]["value"] == "standard"
    assert set(other.choices_["scale"]["evidence"]) == {"false", "centre", "standard"}
    here, there = _model(scale="standard").fit(X, Y), _model(scale="standard").fit(X * units, Y)
    assert (here.top_columns(X, 3)[0] == there.top_columns(X * units, 3)[0]).mean() > 0.98
    as_given = _model(scale=False).fit(X, Y)
    assert as_given.scaling_ is None
    assert "scale" not in as_given.choices_


def test_measurements_in_units_of_their_own() -> None:
    X, y = load_wine(return_X_y=True)  # one feature in hundreds, others below 1
    Y, held = np.eye(3, dtype=int)[y], np.arange(len(y)) % 3 == 0
    right = {}
    for scale in (None, False):
        model = _model(scale=scale).fit(X[~held], Y[~held])
        right[scale] = (model.top_columns(X[held], 1)[0][:, 0] == y[held]).mean()
    assert right[None] > 0.95
    assert right[None] > right[False] + 0.1


def test_how_frequent_labels_are_is_not_lost_with_the_mean() -> None:
    X, _ = _problem(rows=400)
    Y = (np.random.default_rng(1).random((400, 6)) < np.array([0.9, 0.7, 0.2, 0.1, 0.1, 0.1])).astype(np.int64)
    model = _model(scale="standard", tuning=False, network=0, neighbours=False, rankers=False).fit(X, Y)
    assert (model.top_columns(X, 2)[0] == [0, 1]).mean() > 0.9


@pytest.mark.parametrize(("preset", "scale"), [("fast", "centre"), ("fast", "standard"), ("paper", "standard")])
def test_a_model_keeps_its_scale(tmp_path, preset: str, scale: str) -> None:
    X, Y = _problem()
    model = RankAE(preset, scale=scale, random_state=0, epochs=2).fit(X, Y)
    model.save(tmp_path / "m")
    loaded = RankAE.load(tmp_path / "m")
    for mine, its in zip(model.top_columns(X, 3), loaded.top_columns(X, 3), strict=True):
        np.testing.assert_allclose(mine, its, rtol=1e-5)
    loaded.partial_fit(X[:20], Y[:20])
    assert loaded.top_columns(X, 3)[0].shape == (300, 3)


def test_the_papers_network_chooses_a_scale_too_but_not_to_the_letter() -> None:
    X, y = load_wine(return_X_y=True)
    Y, held = np.eye(3, dtype=int)[y], np.arange(len(y)) % 3 == 0
    model = RankAE("paper", random_state=0, epochs=16).fit(X[~held], Y[~held])
    assert model.choices_["scale"]["value"] == "standard"
    assert (model.top_columns(X[held], 1)[0][:, 0] == y[held]).mean() > 0.9
    assert "scale" not in RankAE("paper-strict", random_state=0, epochs=1).fit(X, Y).choices_


@pytest.mark.parametrize("X", [sp.eye(40, format="csr", dtype=np.float32), ["a few words", "others"] * 20])
def test_sparse_features_cannot_be_scaled(X) -> None:
    with pytest.raises(RankaeError, match="scale=standard is for dense features"):
        _model(scale="standard").fit(X, np.eye(2, dtype=int)[np.arange(40) % 2])


def test_what_features_contribute_adds_up_to_the_score_though_some_are_0() -> None:
    X, Y = _problem()
    X[:, 3] = np.maximum(X[:, 3] - 5, 0)  # half of them are 0
    alone = {"tuning": False, "neighbours": False, "rankers": False}
    model = _model(scale="standard", **alone).fit(X, Y)
    row = X[np.flatnonzero(X[:, 3] == 0)[:1]]
    found = explain(model, row, k=2)
    assert len(found.document.words) == 11
    np.testing.assert_allclose(found.contributions.sum(0) + found.base, found.scores, atol=1e-4)


def test_a_scale_that_there_is_not_is_told() -> None:
    with pytest.raises(RankaeError, match="scale cannot be 'metric'; it takes 'centre' or 'standard' or False"):
        _model(scale="metric").fit(*_problem())
