import shutil

import numpy as np
import pytest
import scipy.sparse as sp

from rankae import RankAE
from rankae.base.choices import describe
from rankae.data.noise import flip_labels
from rankae.errors import DataError, RankaeError

WORDS = 12


def make_rows(n: int, seed: int) -> tuple[sp.csr_matrix, sp.csr_matrix]:
    """A label is carried by the rows that have its word, one or two a row, among words that say nothing."""
    rng = np.random.default_rng(seed)
    truth = np.zeros((n, WORDS), dtype=np.float32)
    for i in range(n):
        truth[i, rng.choice(WORDS, rng.integers(1, 3), replace=False)] = 1
    return sp.csr_matrix(np.hstack([truth, rng.random((n, 30)) < 0.2]).astype(np.float32)), sp.csr_matrix(truth)


@pytest.fixture(scope="module")
def noisy():
    rows, truth = make_rows(300, seed=0)
    return rows, flip_labels(truth, 0.35, seed=1)


@pytest.fixture(scope="module")
def model(noisy):
    return RankAE(network=0).fit(*noisy, trusted=make_rows(80, seed=2))


def test_trusted_rows_make_the_choices(model):
    for name in ("ridge", "noise_rounds", "ranker_cost"):
        assert model.choices_[name]["reason"].endswith("trusted rows")
    assert "ridge 1, 2 rounds" in model.evidence_


def test_they_help_where_labels_are_noisy(model, noisy):
    rows, truth = make_rows(500, seed=3)
    alone = RankAE(network=0).fit(*noisy)
    assert model.score(rows, truth) > alone.score(rows, truth)


def test_nothing_is_corrected_without_them(noisy):
    alone = RankAE("fast").fit(*noisy)
    assert alone.choices_["noise_rounds"]["value"] == 0


def test_rounds_can_be_asked_for(noisy):
    model = RankAE("fast", noise_rounds=1).fit(*noisy)
    assert describe(model.choices_["noise_rounds"]) == "1 (as set)"
    plain = RankAE("fast").fit(*noisy)
    assert not np.allclose(model.model_.code.word_table, plain.model_.code.word_table)


def test_what_the_user_set_is_not_chosen(noisy):
    model = RankAE(network=0, ridge=2.0, noise_rounds=0, ranker_cost=0.5).fit(*noisy, trusted=make_rows(80, seed=2))
    assert next(iter(model.evidence_)) == "ridge 2, 0 rounds"
    assert not any("ridge 1," in tried for tried in model.evidence_)
    assert "ranker_cost" not in model.choices_
    assert describe(model.choices_["noise_rounds"]) == "0 (as set)"


def test_a_trusted_label_that_no_training_row_carries_is_passed_over():
    texts = ["red apple", "green apple", "red wine", "white wine"] * 40
    names = [["fruit"], ["fruit"], ["drink"], ["drink"]] * 40
    trusted = ["apple", "wine"] * 30, [["fruit", "never seen"], ["drink"]] * 30
    assert RankAE(network=0).fit(texts, names, trusted=trusted).predict(["an apple"]) == [["fruit"]]


def test_the_model_survives_saving(model, tmp_path):
    rows, _ = make_rows(20, seed=4)
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(
        RankAE.load(tmp_path / "model").top_columns(rows, 3)[0], model.top_columns(rows, 3)[0]
    )


def test_a_run_resumes_with_its_choices(noisy, tmp_path):
    trusted = make_rows(80, seed=2)
    settings = {"network": 1, "epochs": 1, "checkpoint": tmp_path / "steps"}
    whole = RankAE(**settings).fit(*noisy, trusted=trusted)
    shutil.rmtree(tmp_path / "steps" / "network")
    resumed = RankAE(**settings, resume=True).fit(*noisy, trusted=trusted)
    assert resumed.choices_ == whole.choices_
    assert len(resumed.history_) == 1  # the network alone was trained anew
    np.testing.assert_allclose(resumed.decision_function(noisy[0]), whole.decision_function(noisy[0]), atol=1e-5)


@pytest.mark.parametrize(
    ("rows", "labels", "says"), [(10, 10, "10 trusted rows cannot choose"), (80, 60, "80 trusted rows but 60")]
)
def test_too_few_or_unequal_rows_are_told(noisy, rows, labels, says):
    X, Y = make_rows(80, seed=2)
    with pytest.raises(DataError, match=says):
        RankAE(network=0).fit(*noisy, trusted=(X[:rows], Y[:labels]))


def test_rounds_below_none_are_told(noisy):
    with pytest.raises(RankaeError, match="noise_rounds must be at least 0"):
        RankAE("fast", noise_rounds=-1).fit(*noisy)


def test_the_papers_model_keeps_the_epoch_that_suits_them(noisy):
    model = RankAE("paper", epochs=3, word_size=16, code_size=8).fit(*noisy, trusted=make_rows(80, seed=2))
    assert [sorted(figures).count("P@1") for figures in model.history_] == [1, 1, 1]
