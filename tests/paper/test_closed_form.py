import numpy as np
import pytest
import scipy.sparse as sp

from rankae.data.word_embeddings import WordEmbeddings
from rankae.paper.closed_form import leave_one_out_precision, warm_start


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    rows = sp.random(120, 40, density=0.2, random_state=1, format="csr", dtype=np.float32)
    labels = sp.csr_matrix((rng.random((120, 12)) < 0.2).astype(np.float32))
    return rows, labels


def test_codes_of_a_held_out_fold_are_what_a_fit_without_the_fold_says(problem):
    rows, labels = problem
    folds = [np.arange(0, 30), np.arange(60, 80)]
    start = warm_start(rows, labels, code_size=12, ridge=2.0, folds=folds)
    X, Z = rows.toarray().astype(np.float64), labels.toarray() @ start.label_table
    for fold in folds:
        rest = np.setdiff1d(np.arange(120), fold)
        W = np.linalg.solve(X[rest].T @ X[rest] + 2 * np.eye(40), X[rest].T @ Z[rest])
        np.testing.assert_allclose(start.loo_codes[fold], X[fold] @ W, atol=5e-3)
    whole = np.linalg.solve(X.T @ X + 2 * np.eye(40), X.T @ Z)
    np.testing.assert_allclose(start.word_table, whole, atol=5e-3)


def test_where_folds_cover_all_rows_nothing_that_is_said_of_a_fold_is_owed_to_its_labels(problem):
    rows, labels = problem
    folds = [np.arange(0, 60), np.arange(60, 120)]
    other = labels.toarray()
    other[:60] = other[:60][::-1]
    before, after = (
        warm_start(rows, told, code_size=5, ridge=2.0, folds=folds) for told in (labels, sp.csr_matrix(other))
    )
    said = [start.without[0].codes[:60] @ start.without[0].label_table.T for start in (before, after)]
    np.testing.assert_allclose(*said, atol=1e-4)
    said = [start.without[1].codes[60:] @ start.without[1].label_table.T for start in (before, after)]
    assert np.abs(said[0] - said[1]).max() > 0.01  # of the other fold it is
    turned = before.loo_codes[:60] @ before.label_table.T
    np.testing.assert_allclose(
        turned,
        before.without[0].codes[:60] @ before.without[0].label_table.T @ before.label_table @ before.label_table.T,
        atol=1e-4,
    )


def test_leave_one_out_codes_are_what_a_fit_without_the_row_predicts(problem):
    rows, labels = problem
    start = warm_start(rows, labels, code_size=12, ridge=2.0)
    X, Z = rows.toarray().astype(np.float64), labels.toarray() @ start.label_table
    left_out = np.empty_like(Z)
    for i in range(len(X)):
        rest = np.delete(np.arange(len(X)), i)
        W = np.linalg.solve(X[rest].T @ X[rest] + 2 * np.eye(40), X[rest].T @ Z[rest])
        left_out[i] = X[i] @ W
    in_sample = rows @ start.word_table
    # The leverages are estimates, so the codes are near the exact ones, and far nearer than in-sample codes.
    assert np.abs(start.loo_codes - left_out).mean() < 0.35 * np.abs(in_sample - left_out).mean()


def test_codes_without_a_group_are_what_a_fit_without_the_group_predicts(problem):
    rows, labels = problem
    rows = sp.vstack([rows[:30]] * 2 + [rows[:60]], format="csr")  # with two others that are the same in 30 rows
    groups = np.concatenate([np.arange(30)] * 3 + [np.arange(30, 60)])
    start = warm_start(rows, labels, code_size=12, ridge=2.0, groups=groups)
    alone = warm_start(rows, labels, code_size=12, ridge=2.0)
    X, Z = rows.toarray().astype(np.float64), labels.toarray() @ start.label_table
    left_out = np.empty_like(Z)
    for group in range(60):
        rest = np.flatnonzero(groups != group)
        W = np.linalg.solve(X[rest].T @ X[rest] + 2 * np.eye(40), X[rest].T @ Z[rest])
        left_out[groups == group] = X[groups == group] @ W
    error, with_likes = (np.abs(one.loo_codes - left_out).mean() for one in (start, alone))
    assert error < 0.5 * with_likes


def test_meanings_of_words_are_a_prior_of_the_same_regression(problem):
    rows, labels = problem
    embeddings = np.random.default_rng(3).normal(size=(40, 5)).astype(np.float32)
    embeddings /= np.linalg.norm(embeddings, axis=1, keepdims=True)
    start = warm_start(rows, labels, 12, 2.0, embeddings=WordEmbeddings(embeddings, ""))
    # Weights that are drawn to 0 as words and as embeddings have the covariance I + a^2 PP' beforehand.
    X, Z, prior = rows.toarray(), labels @ start.label_table, np.eye(40) + 0.25 * embeddings @ embeddings.T
    W = np.linalg.solve(X.T @ X + 2 * np.linalg.inv(prior), X.T @ Z)
    np.testing.assert_allclose(start.word_table, W, atol=2e-3)
    np.testing.assert_allclose(
        warm_start(rows, labels, 12, 2.0, embeddings=WordEmbeddings(np.zeros_like(embeddings), "")).word_table,
        warm_start(rows, labels, 12, 2.0).word_table,
        atol=2e-3,
    )


def test_leave_one_out_precision_is_that_of_rows_left_out():
    rng = np.random.default_rng(0)
    rows = sp.csr_matrix(np.eye(20, dtype=np.float32)[rng.integers(20, size=400)])
    noise = sp.csr_matrix((rng.random((400, 20)) < 0.1).astype(np.float32))
    assert (
        leave_one_out_precision(sp.hstack([rows, rows @ rows.T], format="csr"), noise, np.arange(400))[1.0].mean() < 25
    )


def test_empty_rows_and_rows_without_labels_have_finite_codes():
    rows = sp.csr_matrix(np.array([[1, 0], [0, 0], [0, 1]], dtype=np.float32))
    labels = sp.csr_matrix(np.array([[1, 0], [0, 1], [0, 0]], dtype=np.float32))
    start = warm_start(rows, labels, 2, 1.0)
    assert np.isfinite(start.loo_codes).all()
    assert np.isfinite(start.word_table).all()
