"""The preset `network`: it starts as its closed form, does not fall from it, and is one model like any other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from rankae import RankAE
from rankae.metrics import precisions
from rankae.numerics.sparse_product import sparse_product
from rankae.numerics.top_k import top_k
from rankae.paper.closed_form import warm_start
from rankae.paper.closed_start import started_network
from rankae.paper.joint import train_joint
from rankae.paper.rank_network import RankNetwork
from rankae.recipe import network_storage
from rankae.recipe.joint_network import NetworkSettings, fitting, joint_settings, train_network


@pytest.fixture(scope="module")
def data():
    """Fewer rows than words, so that a linear map can learn the training rows by heart."""
    rng = np.random.default_rng(0)
    topics = rng.random((30, 500)) < 0.03
    carries = (rng.random((800, 30)) < 0.08).astype(np.float32)
    carries[carries.sum(1) == 0, 0] = 1
    counts = (carries @ topics * (rng.random((800, 500)) < 0.3) + (rng.random((800, 500)) < 0.05)).astype(np.float32)
    rows = sp.csr_matrix(counts / np.maximum(1e-9, np.linalg.norm(counts, axis=1, keepdims=True)))
    labels = sp.csr_matrix(carries)
    return rows[:400], labels[:400], rows[400:], labels[400:]


def test_network_starts_as_the_closed_form(data):
    rows, labels, others, _ = data
    settings = replace(joint_settings(NetworkSettings(), rows, labels, {}), code_size=30)
    start = warm_start(rows, labels, 30, 1.0)
    network = started_network(start, settings).eval()
    expected = top_k(sparse_product(others, start.word_table), start.label_table, None, 3)[0]
    assert np.array_equal(network.top(others, 3)[0], expected)


def test_joint_training_does_not_fall_from_its_start(data):
    rows, labels, others, right = data
    settings = joint_settings(NetworkSettings(), rows, labels, {})
    held = np.arange(0, 400, 8)
    start = warm_start(rows, labels, 30, 1.0, folds=[held])
    before = precisions(started_network(start, replace(settings, code_size=30)).eval().top(others, 5)[0], right)
    trained = train_network(rows, labels, start, settings, held)
    after = precisions(trained.top(others, 5)[0], right)
    assert sum(after.values()) > sum(before.values()) - 1
    # what it learns by is what it would say of strangers: taught by its own answers it has nothing to learn
    assert trained.history[0]["direct"] > 2 * trained.history[0]["L_ae"]
    assert np.array_equal(trained.F.solved_words.numpy(), start.word_table)


@pytest.mark.parametrize("words", ["sparse", "dense"])
def test_preset_is_saved_read_and_trained_further(data, tmp_path, words):
    rows, labels, others, _ = data
    if words == "dense":
        rows, others = rows[:, :12].toarray() + 0.1, others[:, :12].toarray() + 0.1
    model = RankAE("network", epochs=2).fit(rows, labels)
    assert {"ridge", "code_size", "epochs"} <= set(model.choices_)
    model.save(tmp_path / "model")
    again = RankAE.load(tmp_path / "model")
    assert np.array_equal(again.predict_top(others, 3)[1], model.predict_top(others, 3)[1])
    before = again.decision_function(others)
    again.partial_fit(rows[:100], labels[:100])
    assert not np.allclose(again.decision_function(others), before)


def test_held_out_rows_choose_the_epoch_and_are_then_trained_on_and_both_runs_resume(data, tmp_path):
    rows, labels, _, _ = data
    # With such a ridge the start is easy to beat.
    how = {"epochs": 8, "ridge": 1000.0, "learning_rate": 2e-2, "checkpoint": tmp_path, "random_state": 0}
    model = RankAE("network", **how).fit(rows, labels)
    assert "P@1" in model.history_[0]
    assert (tmp_path / "all-rows").exists()
    resumed = RankAE("network", **how, resume=True).fit(rows, labels)
    np.testing.assert_array_equal(resumed.decision_function(rows), model.decision_function(rows))


def test_the_same_seed_gives_the_same_network(data):
    rows, labels, others, _ = data
    found = [RankAE("network", epochs=1, random_state=3).fit(rows, labels).predict_top(others, 3)[1] for _ in range(2)]
    assert np.array_equal(*found)


def test_a_trained_network_is_stored_small_and_comes_back(data, tmp_path, monkeypatch):
    rows, labels, others, right = data
    small = RankAE("network", epochs=2, random_state=0).fit(rows, labels)
    assert small.choices_["storage"]["evidence"]
    small.save(tmp_path / "small")
    again = RankAE.load(tmp_path / "small")
    for own, other in zip(small.predict_top(others, 5), again.predict_top(others, 5), strict=True):
        np.testing.assert_array_equal(own, other)
    monkeypatch.setattr(network_storage, "little_is_lost", lambda lost: False)
    large = RankAE("network", epochs=2, random_state=0).fit(rows, labels)
    large.save(tmp_path / "large")
    sizes = [(tmp_path / name / "model.safetensors").stat().st_size for name in ("small", "large")]
    assert sizes[0] < 0.6 * sizes[1]
    found = [precisions(model.top_columns(others, 5)[0], right) for model in (small, large)]
    assert abs(found[0]["P@5"] - found[1]["P@5"]) < 1


def test_copies_of_few_rows_make_no_label_of_a_network_certain():
    """Eight rows in 40 copies each: eight right labels can promise 9/10, or 17/18 by steps, and not .98."""
    labels = sp.identity(8, dtype=np.float32, format="csr")
    rows = sp.csr_matrix(np.repeat(labels.toarray(), 10, axis=1))  # of ten words each
    model = RankAE("network", epochs=2, random_state=0).fit(sp.vstack([rows] * 40), sp.vstack([labels] * 40))
    assert 0.5 < model.predict_proba(rows).max() < 0.95


def test_what_a_small_network_learns_is_not_rounded_away(data):
    rows, labels, others, _ = data
    network = RankAE("network", epochs=2).fit(rows, labels).model_.shrunk("int4")
    settings = replace(fitting(joint_settings(NetworkSettings(), rows, labels, {}), network), epochs=1)
    learnt = train_joint(rows, labels, settings, network=network)
    stored = RankNetwork.from_state(*learnt.state())
    change, error = (np.abs(one.codes(others) - learnt.codes(others)).mean() for one in (network, stored))
    assert error < 0.1 * change
