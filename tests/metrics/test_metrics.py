"""Measures against examples worked by hand, and against napkinXC on random ones."""

from __future__ import annotations

from math import log, log2

import numpy as np
import pytest
import scipy.sparse as sp

from rankae import metrics
from rankae.errors import DataError

# Four rows, four labels; hits are  1 0 1,  0 1 -,  (no label),  1 1 1.
TRUTH = sp.csr_matrix([[1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0], [1, 1, 1, 1]], dtype=np.float32)
COLUMNS = np.array([[2, 1, 0], [3, 1, -1], [0, 1, 2], [3, 2, 1]])
INVERSE = np.array([2.0, 4.0, 1.0, 1.0])


def random_case(seed: int, rows: int = 200, labels: int = 30, k: int = 5) -> tuple[np.ndarray, sp.csr_matrix]:
    """Rankings that are right about half of the time, with rows of no label, of few labels, and of short rankings."""
    rng = np.random.default_rng(seed)
    truth = rng.random((rows, labels)) < rng.choice([0.0, 0.05, 0.3], size=(rows, 1))
    columns = np.argsort(-(rng.random((rows, labels)) + 0.7 * truth), axis=1)[:, :k].astype(np.int32)
    shorter = rng.integers(0, k + 1, size=(rows, 1))
    return np.where((np.arange(k) < shorter) | (rng.random((rows, 1)) < 0.5), columns, -1), sp.csr_matrix(truth)


def test_precision_by_hand():
    found = metrics.evaluate(COLUMNS, TRUTH, k=[1, 3])
    assert found["P@1"] == pytest.approx(100 * (1 + 0 + 0 + 1) / 4)
    assert found["P@3"] == pytest.approx(100 * (2 / 3 + 1 / 3 + 0 + 1) / 4)


def test_ndcg_by_hand():
    found = metrics.evaluate(COLUMNS, TRUTH, k=[1, 3])
    first = (1 + 1 / log2(4)) / (1 + 1 / log2(3))  # hits in places 1 and 3, of two labels
    second = 1 / log2(3)  # its only label in place 2
    assert found["nDCG@1"] == pytest.approx(found["P@1"])
    assert found["nDCG@3"] == pytest.approx(100 * (first + second + 0 + 1) / 4)


def test_recall_and_coverage_by_hand():
    found = metrics.evaluate(COLUMNS, TRUTH, k=[1, 3])
    assert found["recall@1"] == pytest.approx(100 * (1 / 2 + 0 + 0 + 1 / 4) / 4)
    assert found["recall@3"] == pytest.approx(100 * (1 + 1 + 0 + 3 / 4) / 4)
    assert found["coverage@1"] == pytest.approx(50)  # labels 2 and 3, of four
    assert found["coverage@3"] == pytest.approx(100)


def test_propensity_scored_precision_by_hand():
    weighed = metrics.weigh(metrics.judge(COLUMNS, TRUTH), INVERSE, k=3)
    gained, best = weighed.psp(1)
    np.testing.assert_allclose(gained, [1, 0, 0, 1])
    np.testing.assert_allclose(best, [2, 4, 0, 4])
    gained, best = weighed.psp(3)
    np.testing.assert_allclose(gained, np.array([1 + 2, 4, 0, 1 + 1 + 4]) / 3)
    np.testing.assert_allclose(best, np.array([2 + 1, 4, 0, 4 + 2 + 1]) / 3)


def test_propensity_scored_ndcg_by_hand():
    gained, best = metrics.weigh(metrics.judge(COLUMNS, TRUTH), INVERSE, k=3).psndcg(3)
    two, three = 1 + 1 / log2(3), 1 + 1 / log2(3) + 1 / log2(4)
    np.testing.assert_allclose(gained, [(1 + 2 / 2) / two, 4 / log2(3), 0, (1 + 1 / log2(3) + 4 / 2) / three])
    np.testing.assert_allclose(best, [(2 + 1 / log2(3)) / two, 4, 0, (4 + 2 / log2(3) + 1 / 2) / three])


def test_inverse_propensities_by_hand():
    train = sp.csr_matrix(np.eye(1000, 2))  # two labels of one row each
    # With n = 1 the factor (B + 1)^A cancels: 1 / p = log N.
    found = metrics.inverse_propensities(train, n_labels=3)
    assert found[:2] == pytest.approx(log(1000))
    assert found[2] == pytest.approx(1 + (log(1000) - 1) * (2.5 / 1.5) ** 0.55)  # never seen in training
    assert metrics.inverse_propensities(train, a=0.5, b=0.4)[0] == pytest.approx(log(1000))


def test_propensities_of_almost_no_rows_are_one():
    np.testing.assert_array_equal(metrics.inverse_propensities(sp.csr_matrix([[1, 0]])), [1, 1])


def test_a_label_that_training_never_saw_can_only_be_missed():
    train = TRUTH[:, :3]
    found = metrics.evaluate(np.array([[0], [1], [2], [0]]), TRUTH, k=[1], train_labels=train)
    inverse = metrics.inverse_propensities(train, 4)
    assert found["PSP@1"] == pytest.approx(
        100 * (inverse[0] + inverse[1] + inverse[0]) / (inverse[0] + inverse[1] + inverse[3])
    )


def test_perfect_ranking_scores_100_but_for_precision():
    truth = sp.csr_matrix([[1, 0, 1], [0, 1, 0]])
    found = metrics.evaluate(np.array([[0, 2], [1, -1]]), truth, k=[1, 2], train_labels=truth)
    assert found["P@2"] == pytest.approx(75)  # the second row has one label, and P@2 divides by two
    for name in ("nDCG@2", "PSP@2", "PSnDCG@2", "recall@2", "coverage@2"):
        assert found[name] == pytest.approx(100)


def test_fields_and_their_order():
    found = metrics.evaluate(COLUMNS, TRUTH, k=[1, 3, 5], train_labels=TRUTH)
    measures = ("P", "nDCG", "PSP", "PSnDCG", "recall", "coverage")
    assert list(found) == [f"{m}@{k}" for m in measures for k in (1, 3, 5)] + ["rows", "rows_without_labels"]
    assert (found["rows"], found["rows_without_labels"]) == (4, 1)
    assert {type(value) for value in found.values()} == {float, int}  # so that json can write them


def test_k_beyond_the_ranking_counts_the_rest_as_wrong():
    found = metrics.evaluate(COLUMNS, TRUTH, k=[6], train_labels=TRUTH)
    assert found["P@6"] == pytest.approx(100 * (2 + 1 + 0 + 3) / 6 / 4)
    assert found["recall@6"] == pytest.approx(metrics.evaluate(COLUMNS, TRUTH, k=[3])["recall@3"])


def test_no_true_label_anywhere_scores_zero():
    nothing = sp.csr_matrix((2, 3), dtype=np.float32)
    found = metrics.evaluate(np.array([[0], [1]]), nothing, k=[1], train_labels=nothing)
    assert all(found[name] == 0 for name in ("P@1", "nDCG@1", "PSP@1", "PSnDCG@1", "recall@1", "coverage@1"))


def test_nothing_predicted_anywhere_scores_zero():
    assert metrics.evaluate(np.full((4, 2), -1), TRUTH, k=[1], train_labels=TRUTH)["PSP@1"] == 0
    assert metrics.evaluate(np.empty((4, 0), dtype=int), TRUTH, k=[1])["P@1"] == 0


def test_truth_in_any_csr_form():
    """Unsorted columns, entries given twice and stored zeros mean the same; the caller's matrix stays as it was."""
    messy = sp.csr_matrix(
        (np.array([1, 1, 0, 1, 1, 1, 1, 1, 1.0]), [2, 0, 1, 1, 1, 3, 2, 1, 0], [0, 3, 5, 5, 9]), shape=(4, 4)
    )
    before = messy.indices.copy()
    assert metrics.evaluate(COLUMNS, messy) == metrics.evaluate(COLUMNS, TRUTH)
    np.testing.assert_array_equal(messy.indices, before)
    assert metrics.evaluate(COLUMNS, sp.csr_array(TRUTH)) == metrics.evaluate(COLUMNS, TRUTH)


def test_rows_average_to_the_measure():
    columns, truth = random_case(1)
    found = metrics.evaluate(columns, truth, k=[3])
    for name, rows in (("P", metrics.precision_rows), ("nDCG", metrics.ndcg_rows), ("recall", metrics.recall_rows)):
        each = rows(columns, truth, 3)
        assert each.shape == (200,)
        assert 100 * each.mean() == pytest.approx(found[f"{name}@3"])


def test_per_label_by_hand():
    found = metrics.per_label(COLUMNS, TRUTH, k=2)
    np.testing.assert_array_equal(found.support, [2, 2, 2, 1])
    np.testing.assert_array_equal(found.predicted, [1, 3, 2, 2])  # -1 and third places are no predictions
    np.testing.assert_array_equal(found.hits, [0, 1, 2, 1])
    np.testing.assert_allclose(found.precision, [0, 1 / 3, 1, 1 / 2])
    np.testing.assert_allclose(found.recall, [0, 1 / 2, 1, 1])
    assert metrics.coverage(COLUMNS, TRUTH, k=2) == found.coverage == 3 / 4


def test_shares_of_nothing_are_nan():
    found = metrics.per_label(np.array([[0]]), sp.csr_matrix([[1, 0, 0]]), k=1)
    np.testing.assert_array_equal(found.precision, [1, np.nan, np.nan])
    np.testing.assert_array_equal(found.recall, [1, np.nan, np.nan])


def test_head_torso_and_tail():
    train = sp.csr_matrix(np.arange(8)[:, None] < [8, 4, 2])  # labels of 8, 4 and 2 rows; the fourth is new
    groups = metrics.by_frequency(metrics.per_label(COLUMNS, TRUTH, k=2), train, tail=2, torso=7)
    assert groups["head"] == {"labels": 1, "support": 2, "precision": 0, "recall": 0, "coverage": 0}
    assert groups["torso"] == {"labels": 1, "support": 2, "precision": 100 / 3, "recall": 50, "coverage": 100}
    assert groups["tail"] == {"labels": 2, "support": 3, "precision": 75, "recall": 100, "coverage": 100}


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        (np.zeros((3, 1), dtype=int), "predictions for 3 rows but labels for 4"),
        (np.zeros(4, dtype=int), "integer array"),
        (np.zeros((4, 1)), "integer array"),
        (np.full((4, 1), 4), "label column 4 .* 4 columns"),
        (np.full((4, 1), -2), "label column -2"),
        (np.array([[0, 1, 2], [3, 1, 3], [0, 1, 2], [0, 1, 2]]), "row 1: label column 3 was predicted twice"),
    ],
)
def test_predictions_that_do_not_fit_are_refused(columns, sentence):
    with pytest.raises(DataError, match=sentence):
        metrics.evaluate(columns, TRUTH)


def test_no_rows_and_no_places_are_refused():
    with pytest.raises(DataError, match="no rows"):
        metrics.evaluate(np.empty((0, 1), dtype=int), TRUTH[:0])
    with pytest.raises(DataError, match="at least 1"):
        metrics.evaluate(COLUMNS, TRUTH, k=[0])


@pytest.mark.parametrize("seed", range(3))
def test_agrees_with_napkinxc(seed):
    theirs = pytest.importorskip("napkinxc.metrics", reason="napkinXC is not installed")
    columns, truth = random_case(seed)
    _, train = random_case(seed + 100)
    found = metrics.evaluate(columns, truth, k=range(1, 6), train_labels=train)
    rankings = [row[row >= 0].tolist() for row in columns]
    true = [row.indices.tolist() for row in truth]
    inverse = theirs.Jain_et_al_inverse_propensity(train)
    np.testing.assert_allclose(metrics.inverse_propensities(train), inverse)
    expected = {
        "P": theirs.precision_at_k(true, rankings, k=5),
        "nDCG": theirs.ndcg_at_k(true, rankings, k=5),
        "recall": theirs.recall_at_k(true, rankings, k=5),
        "coverage": theirs.coverage_at_k(true, rankings, k=5),
        "PSP": theirs.psprecision_at_k(true, rankings, inverse, k=5),
        "PSnDCG": theirs.psndcg_at_k(true, rankings, inverse, k=5),
    }
    for name, values in expected.items():
        np.testing.assert_allclose([found[f"{name}@{k}"] for k in range(1, 6)], 100 * values, err_msg=name)
