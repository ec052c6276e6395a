"""A shortlist of labels changes the cost of a step, not what is learnt."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from rankae import RankAE
from rankae.data.generate import make_dataset
from rankae.errors import RankaeError
from rankae.paper.hard_negatives import Shortlist
from rankae.paper.joint import train_joint
from rankae.paper.settings import JointSettings

SMALL = JointSettings(code_size=16, word_size=12, epochs=3, batch=32, learning_rate=0.02)


@pytest.fixture(scope="module")
def generated():
    train, test = make_dataset(rows=1000, labels=200, test_rows=500, text=False, seed=1)
    return train.features, train.labels, test.features, test.labels


def precision_at_1(network, rows, labels) -> float:
    return float(np.mean(labels.toarray()[np.arange(rows.shape[0]), network.top(rows, 1)[0][:, 0]]))


@pytest.mark.parametrize("variant", [{}, {"direct": 0.2}, {"loss": "bce"}, {"scores": "sigmoid", "margin": 0.5}])
def test_a_shortlist_of_all_labels_is_exact(generated, variant: dict) -> None:
    rows, labels, *_ = generated
    exact = train_joint(rows[:200], labels[:200], replace(SMALL, **variant)).state()[1]
    short = train_joint(rows[:200], labels[:200], replace(SMALL, shortlist=200, **variant)).state()[1]
    for name, value in exact.items():
        np.testing.assert_allclose(short[name], value, rtol=2e-3, atol=2e-4, err_msg=name)


def test_a_shortlist_ranks_about_as_well_as_all_labels(generated) -> None:
    rows, labels, *held_out = generated
    settings = replace(SMALL, epochs=8, code_size=32, word_size=32)
    exact = precision_at_1(train_joint(rows, labels, settings), *held_out)
    short = precision_at_1(train_joint(rows, labels, replace(settings, shortlist=90)), *held_out)
    assert exact > 0.3
    assert short > exact - 0.04


def test_labels_of_the_batch_are_always_looked_at_and_the_rest_fits_the_size() -> None:
    shortlist = Shortlist(labels=1000, size=50, seed=0)
    own = torch.tensor([3, 500, 999])
    looked_at = shortlist.choose(own, step=0)
    assert torch.isin(own, looked_at).all()
    assert (looked_at.diff() > 0).all()
    assert 30 < len(looked_at) <= 50
    assert torch.equal(looked_at, shortlist.choose(own, step=0))
    assert not torch.equal(looked_at, shortlist.choose(own, step=1))
    crowd = torch.arange(0, 1000, 5)
    assert torch.equal(shortlist.choose(crowd, step=0), crowd)


def test_violators_are_looked_at_again_until_they_no_longer_violate() -> None:
    shortlist = Shortlist(labels=100_000, size=40, seed=0)
    own = torch.tensor([7])
    looked_at = shortlist.choose(own, step=0)
    violations = torch.zeros(len(looked_at))
    violations[5], violations[9] = 3.0, 1.0
    shortlist.learn(looked_at, violations)
    assert shortlist.violators.tolist() == [looked_at[5], looked_at[9]]
    assert torch.isin(looked_at[[5, 9]], shortlist.choose(own, step=1)).all()
    for step in range(2, 400):  # others begin to violate, so the old ones lose their places
        looked_at = shortlist.choose(own, step)
        shortlist.learn(looked_at, (looked_at > 50_000).float())
    assert (shortlist.violators[:20] > 50_000).all()


def test_rows_that_no_step_looks_at_do_not_move() -> None:
    random = np.random.default_rng(0)
    rows = sp.csr_matrix(random.random((64, 10), dtype=np.float32))
    labels = sp.csr_matrix((np.ones(64, np.float32), random.integers(0, 30, 64), np.arange(65)), shape=(64, 5000))
    network = train_joint(rows, labels, replace(SMALL, shortlist=20))
    vectors, bias = (network.state()[1][f"D.label_{name}"] for name in ("vectors", "bias"))
    assert np.abs(vectors[np.unique(labels.indices)]).max(axis=1).all()
    assert not vectors[30:].any()
    assert (bias[30:] == -SMALL.margin).all()  # labels without a row stay below those that have some
    assert network.top(rows, 5)[0].max() < 30


def test_a_resumed_run_with_a_shortlist_ends_where_an_uninterrupted_one_does(tmp_path, generated) -> None:
    rows, labels, *_ = generated
    rows, labels, settings = rows[:200], labels[:200], replace(SMALL, shortlist=60)
    whole = train_joint(rows, labels, settings).state()[1]

    def interrupt(figures: dict) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_joint(rows, labels, settings, checkpoint_dir=tmp_path, on_epoch=interrupt)
    resumed = train_joint(rows, labels, settings, checkpoint_dir=tmp_path, resume=True).state()[1]
    for name, value in whole.items():
        assert np.array_equal(value, resumed[name]), name


def test_shortlist_is_a_parameter_of_the_preset_paper(generated) -> None:
    rows, labels, *held_out = generated
    model = RankAE("paper", shortlist=100, epochs=3, code_size=16, word_size=12).fit(rows, labels)
    assert model.top_columns(held_out[0], 3)[0].shape == (500, 3)
    with pytest.raises(RankaeError, match="shortlist must be at least 0, but it is -1"):
        RankAE("paper", shortlist=-1).fit(rows, labels)
    with pytest.raises(RankaeError, match="shortlist has no meaning"):
        RankAE("fast", shortlist=100).fit(rows, labels)
