"""Calibration error and F1 by hand, and against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import f1_score

from rankae.metrics import Selection, evaluate_probabilities, reliability


def test_reliability_by_hand():
    bins = reliability(np.array([0.15, 0.12, 0.95, 1.0]), np.array([True, False, True, True]))
    assert bins.predictions.tolist() == [0, 2, 0, 0, 0, 0, 0, 0, 0, 2]
    assert bins.error == pytest.approx(0.5 * abs(0.135 - 0.5) + 0.5 * abs(0.975 - 1))


def test_chance_is_what_perfect_probabilities_show():
    rng = np.random.default_rng(0)
    p = rng.random((400, 300))
    errors = [reliability(own, rng.random(300) < own) for own in p]
    assert np.mean([e.error for e in errors]) == pytest.approx(np.mean([e.chance for e in errors]), rel=0.1)


def test_places_without_a_label_do_not_count():
    labels = sp.csr_matrix([[1, 0], [0, 1]], dtype=np.float32)
    found = evaluate_probabilities(np.array([[0, -1], [0, 1]]), np.array([[0.8, 0.0], [0.6, 0.3]]), labels, [1, 2])
    assert found["Brier@1"] == pytest.approx(100 * (0.2**2 + 0.6**2) / 2)
    assert found["Brier@2"] == pytest.approx(100 * (0.2**2 + 0.6**2 + 0.7**2) / 3)
    assert found["NLL"] == pytest.approx(-np.mean(np.log([0.8, 0.4, 0.3])))


def test_f1_is_scikit_learns():
    rng = np.random.default_rng(0)
    truth, given = rng.random((60, 12)) < 0.2, rng.random((60, 12)) < 0.25
    truth[:, 3] = given[:, 3] = False
    columns = np.argsort(rng.random((60, 12)), axis=1)
    found = Selection.of(columns, np.take_along_axis(given, columns, 1), sp.csr_matrix(truth)).measures()
    present = np.delete(np.arange(12), 3)
    for average in ("micro", "macro", "weighted"):
        own = f1_score(truth[:, present], given[:, present], average=average, zero_division=0)
        assert found[f"{average}-F1"] == pytest.approx(100 * own)
    by_row = f1_score(truth, given, average="samples", zero_division=1)
    assert found["example-F1"] == pytest.approx(100 * by_row)


def test_the_label_given_in_the_stead_of_another():
    truth = sp.csr_matrix([[1, 0, 0], [1, 0, 0], [1, 0, 0], [0, 0, 1]], dtype=np.float32)
    columns = np.array([[1], [1], [2], [2]])
    confused = Selection.of(columns, columns >= 0, truth).confused_with()
    assert confused.tolist() == [1, -1, -1]
