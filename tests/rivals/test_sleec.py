"""SLEEC: each step against its definition, Bibtex against the paper."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.svm import LinearSVR

from rankae.data import load_dataset
from rankae.data.unit_length import unit_rows
from rankae.metrics import evaluate
from rankae.rivals._sleec.clusters import cluster_centres, nearest_centre
from rankae.rivals._sleec.embedding import embed_pairs
from rankae.rivals._sleec.label_neighbours import label_gram
from rankae.rivals._sleec.regression import fit_regressor, least_squares
from rankae.rivals.sleec import PUBLISHED, Sleec


def test_clusters_are_directions() -> None:
    random = np.random.default_rng(0)
    truth = random.integers(0, 3, 90)
    rows = unit_rows(sp.csr_matrix(np.eye(3)[truth] * random.uniform(1, 9, (90, 1)) + 0.1 * random.random((90, 3))))
    found = nearest_centre(rows, cluster_centres(rows, 3, random))
    assert {frozenset(np.flatnonzero(found == c)) for c in range(3)} == {
        frozenset(np.flatnonzero(truth == c)) for c in range(3)
    }


def test_label_neighbours_are_those_that_share_most() -> None:
    labels = sp.csr_matrix([[1, 1, 0, 0], [1, 1, 1, 0], [1, 0, 0, 0], [0, 0, 0, 1]], dtype=np.float32)
    gram = label_gram(labels, neighbours=2).toarray()
    cosine = 2 / np.sqrt(6)
    expected = [[1, cosine, 0.5**0.5, 0], [cosine, 1, 0, 0], [0.5**0.5, 0, 1, 0], [0, 0, 0, 1]]
    np.testing.assert_allclose(gram, expected, rtol=1e-6)


def test_the_embedding_fits_the_observed_pairs() -> None:
    # Rank 3, a tenth of the pairs unseen: the decomposition of what is seen is far off, the refinement is not.
    random = np.random.default_rng(0)
    points = random.random((80, 3)).astype(np.float32)
    full = points @ points.T
    seen = np.triu(random.random((80, 80)) > 0.1)
    seen |= seen.T
    observed = sp.csr_matrix(full * seen)
    Z = embed_pairs(observed, 3, random)
    value, vector = np.linalg.eigh(observed.toarray())
    start = (vector[:, -3:] * value[-3:]) @ vector[:, -3:].T
    misfit, misfit_of_start = (np.linalg.norm((M - full)[seen]) for M in (Z @ Z.T, start))
    assert misfit < 0.25 * misfit_of_start
    assert np.linalg.norm((Z @ Z.T - full)[~seen]) < 0.2 * np.linalg.norm(full[~seen])


def test_more_dimensions_than_rows() -> None:
    assert embed_pairs(sp.csr_matrix(np.eye(3, dtype=np.float32)), 10, np.random.default_rng(0)).shape == (3, 3)


@pytest.fixture(scope="module")
def regression_data() -> tuple[sp.csr_matrix, np.ndarray]:
    random = np.random.default_rng(0)
    return sp.random(150, 40, 0.2, "csr", np.float32, random_state=0), random.standard_normal((150, 4))


def test_the_regression_is_liblinears(regression_data) -> None:
    X, Z = regression_data
    W = least_squares(X, Z, 0.2, np.random.default_rng(0), tolerance=1e-6)
    ridge = np.linalg.solve((X.T @ X).toarray() + np.eye(40) / 0.4, X.T @ Z)
    np.testing.assert_allclose(W, ridge, atol=1e-4)
    svr = LinearSVR(
        epsilon=0, C=0.2, loss="squared_epsilon_insensitive", dual=True, fit_intercept=False, tol=1e-8, max_iter=10_000
    )
    np.testing.assert_allclose(W[:, 0], svr.fit(X, Z[:, 0]).coef_, atol=1e-4)


def test_the_published_l1_term_hardly_moves_the_regression(regression_data) -> None:
    X, Z = regression_data
    with_l1 = fit_regressor(X, Z, 0.2, np.random.default_rng(0))
    without = np.linalg.solve((X.T @ X).toarray() + np.eye(40) / 0.4, X.T @ Z)
    assert np.linalg.norm(X @ (with_l1 - without)) < 0.1 * np.linalg.norm(X @ without)


def test_clusters_and_learners_survive_a_file(tmp_path) -> None:
    random = np.random.default_rng(0)
    truth = random.integers(0, 6, 200)
    X = sp.csr_matrix(np.eye(6)[truth] + 0.2 * random.random((200, 6)))
    model = Sleec(learners=2, clusters=3, neighbours=20, dim=4, cost=10.0, knn=5)
    model.fit(X, sp.csr_matrix(np.eye(6)[truth]))
    columns, scores = model.top_columns(X, 3)
    assert np.mean(columns[:, 0] == truth) > 0.95
    model.save(tmp_path / "model")
    again = Sleec.load(tmp_path / "model").top_columns(X, 3)
    np.testing.assert_array_equal(columns, again[0])
    np.testing.assert_array_equal(scores, again[1])


def test_more_clusters_than_rows_and_no_labels_at_all() -> None:
    X = np.eye(4)
    few = Sleec(clusters=9, learners=1, knn=2).fit(X, sp.csr_matrix([[1, 0], [1, 0], [0, 1], [0, 0]]))
    assert few.top_columns(X, 2)[0].shape == (4, 2)
    none = Sleec().fit(X, sp.csr_matrix((4, 2)))
    assert none.top_columns(X, 2)[1].tolist() == [[0, 0]] * 4


@pytest.mark.slow
def test_bibtex_as_published(real_data) -> None:
    train, test = load_dataset(real_data("bibtex")), load_dataset(real_data("bibtex"), split="test")
    model = Sleec(**PUBLISHED["bibtex"]).fit(train.features, train.labels)
    found = evaluate(model.top_columns(test.features, 5)[0], test.labels)
    assert found["P@1"] == pytest.approx(65.08, abs=1.0)
    assert found["P@3"] == pytest.approx(39.64, abs=1.0)
    assert found["P@5"] == pytest.approx(28.87, abs=1.0)
