"""Probabilities: right on rows that were not fitted on, monotone, saved with the model."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from rankae import metrics
from rankae.base.calibration import Calibration, isotonic_map
from rankae.base.held_out import HeldOut
from rankae.errors import DataError, ModelFileError
from rankae.methods import create, load


def drawn(rows: int, seed: int, labels: int = 40, k: int = 10) -> tuple[HeldOut, np.ndarray]:
    """Rankings whose labels are true with probability sigmoid(2 score - 1), and how frequent labels are."""
    rng = np.random.default_rng(seed)
    columns = np.argsort(rng.random((rows, labels)), axis=1)[:, :k].astype(np.int32)
    scores = -np.sort(-rng.normal(size=(rows, k)), axis=1).astype(np.float32)
    true = rng.random((rows, k)) < 1 / (1 + np.exp(1 - 2 * scores))
    row, rank = np.nonzero(true)
    matrix = sp.csr_matrix((np.ones(len(row), np.float32), (row, columns[row, rank])), shape=(rows, labels))
    return HeldOut(columns, scores, matrix), np.arange(1, labels + 1)


def test_probabilities_of_new_rows_are_right():
    held_out, counts = drawn(2000, 0)
    calibration = Calibration.fit(held_out, counts)
    new, _ = drawn(4000, 1)
    found = metrics.reliability(calibration.probability(new.scores, counts[new.columns]), new.hits)
    assert found.error < 0.02
    raw = metrics.reliability(1 / (1 + np.exp(-new.scores)), new.hits)
    assert found.error < raw.error / 3


def test_a_higher_score_never_gets_a_lower_probability():
    held_out, counts = drawn(300, 2)
    calibration = Calibration.fit(held_out, counts)
    p = calibration.probability(np.sort(np.random.default_rng(0).normal(size=200))[::-1], np.full(200, 5))
    assert (np.diff(p) <= 0).all()
    assert 0 < p.min() < p.max() < 1


def test_the_best_label_of_a_row_has_a_map_of_its_own_where_that_helps():
    """Labels in the first place are right half of the time, all others seldom, whatever they score."""
    rng = np.random.default_rng(0)
    scores = -np.sort(-rng.random((2000, 5)), axis=1).astype(np.float32)
    columns = np.tile(np.arange(5, dtype=np.int32), (2000, 1))
    true = (rng.random((2000, 5)) < [0.5, 0.05, 0.05, 0.05, 0.05]).astype(np.float32)
    calibration = Calibration.fit(HeldOut(columns, scores, sp.csr_matrix(true)), np.ones(5))
    assert calibration.covariate in ("place", "place curves")
    p = calibration.probability(np.array([[0.9, 0.9, 0.9, 0.5]]))
    assert p[0, 0] == pytest.approx(0.5, abs=0.1)
    assert p[0, 1:].max() < 0.15
    assert (np.diff(p) <= 0).all()


def test_isotonic_steps_by_hand():
    scores, values = isotonic_map(np.array([1.0, 2, 3, 4]), np.array([False, True, False, True]))
    np.testing.assert_allclose(scores, [1, 2, 3, 4])
    np.testing.assert_allclose(values, [0.5 / 2, 1.5 / 3, 1.5 / 3, 1.5 / 2])


def test_copies_of_few_rows_make_no_label_certain():
    """Eight texts in ten copies each, whose labels scores separate: 16 right labels seen cannot promise 99 %."""
    scores = np.tile(np.array([2.0, 1.9, -1.0, -1.2], np.float32), (80, 1))
    columns = np.tile(np.arange(4, dtype=np.int32), (80, 1))
    labels = sp.csr_matrix(np.tile(np.array([1, 1, 0, 0], np.float32), (80, 1)))
    groups = np.repeat(np.arange(8), 10)
    p = Calibration.fit(HeldOut(columns, scores, labels, groups=groups), np.full(4, 80)).probability(scores[:1])[0]
    assert 0.9 < p[0] < 0.98
    assert 0.02 < p[3] < 0.1
    alone = Calibration.fit(HeldOut(columns, scores, labels), np.full(4, 80)).probability(scores[:1])[0]
    assert p[0] < alone[0] < 1


def test_places_with_nothing_have_no_probability():
    held_out, counts = drawn(100, 3)
    calibration = Calibration.fit(held_out, counts)
    assert calibration.probability(np.array([[1.0, -np.inf]]), np.array([[1, 1]])).tolist()[0][1] == 0


def test_missing_labels_make_a_label_more_probably_right_than_recorded():
    held_out, counts = drawn(4000, 4)
    sure = held_out.scores > 0.5  # nearly certain above, nearly impossible below: only noise lies between
    row, _ = np.nonzero(sure)
    truth = sp.csr_matrix((np.ones(len(row), np.float32), (row, held_out.columns[sure])), shape=(4000, 40))
    truth.data[np.random.default_rng(0).random(truth.nnz) < 0.3] = 0
    truth.eliminate_zeros()
    calibration = Calibration.fit(HeldOut(held_out.columns, held_out.scores, truth), counts)
    assert calibration.missing == pytest.approx(0.3, abs=0.05)
    p = calibration.probability(np.array([[2.0, -2.0]]), np.array([[1, 1]]))
    assert p[0, 0] == pytest.approx(0.7, abs=0.05)
    np.testing.assert_allclose(calibration.true(p)[0], [1, 0], atol=0.1)


def test_a_damaged_calibration_is_refused():
    settings, arrays = Calibration.fit(*drawn(100, 5)).state()
    with pytest.raises(ModelFileError, match="damaged"):
        Calibration.from_state(settings, arrays | {"probabilities": arrays["probabilities"] + 1})


TEXTS = ["red apple", "green apple", "red wine", "white wine", "apple wine"] * 12
NAMES = [["fruit"], ["fruit"], ["drink"], ["drink"], ["fruit", "drink"]] * 12


@pytest.fixture(scope="module")
def model():
    return create("rank-ae", preset="fast").fit(TEXTS, NAMES)


def test_the_default_calibrates_itself(model, tmp_path):
    names, scores, p = model.predict_top(["red apple", "wine"], 2, proba=True)
    assert names[0, 0] == "fruit"
    assert p.shape == scores.shape == (2, 2)
    assert p[0, 0] > 0.8 > 0.5 > p[0, 1]
    model.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_top(["red apple", "wine"], 2, proba=True)[2], p)
    assert len(loaded.held_out_) == len(model.held_out_)


def test_predict_proba_is_sparse_and_agrees(model):
    found = model.predict_proba(TEXTS[:4])
    assert sp.issparse(found)
    assert found.shape == (4, 2)
    columns, scores = model.top_columns(TEXTS[:4], 1)
    one = model.predict_proba(TEXTS[:4], k=1)
    assert one.nnz == 4
    np.testing.assert_array_equal(one[range(4), columns[:, 0]].A1, model.probabilities(columns, scores)[:, 0])


def test_a_rival_is_calibrated_by_rows_that_it_has_not_seen():
    model = create("knn").fit(TEXTS[:30], NAMES[:30])
    assert not hasattr(model, "predict_proba")
    with pytest.raises(DataError, match="not calibrated"):
        model.predict_top(TEXTS[:2], 1, proba=True)
    before = model.predict_top(TEXTS[:5], 2)
    model.calibrate(TEXTS[30:], [*NAMES[30:-1], ["unknown"]])
    names, _, p = model.predict_top(TEXTS[:5], 2, proba=True)
    np.testing.assert_array_equal(before[0], names)
    assert (p[:, 0] >= p[:, 1]).all()
    with pytest.raises(DataError, match="too few"):
        model.calibrate(TEXTS[:5], NAMES[:5])
