"""FastXML: its solver against liblinear, splits and leaves on cases with known answers, Bibtex against the paper."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numba import njit
from sklearn.linear_model import LogisticRegression
from sklearn.svm import l1_min_c

from rankae.data import load_dataset
from rankae.metrics import evaluate
from rankae.rivals._trees.growth import LEAF
from rankae.rivals._trees.l1_logistic import fit_l1_logistic
from rankae.rivals._trees.ndcg_split import alternate_sides
from rankae.rivals._trees.node_view import UNSEEN, local_columns
from rankae.rivals.fastxml import FastXML


def objective(w: np.ndarray, X: sp.csr_matrix, side: np.ndarray, cost: np.ndarray) -> float:
    return float(np.abs(w).sum() + cost @ np.logaddexp(0, -side * (X @ w)))


@pytest.mark.parametrize("seed", range(4))
def test_the_hyperplane_is_liblinears(seed: int) -> None:
    random = np.random.default_rng(seed)
    X = sp.random(120, 40, density=0.2, format="csr", random_state=seed, dtype=np.float32)
    side = np.where(X @ random.standard_normal(40) + 0.3 * random.standard_normal(120) > 0.2, 1, -1)
    cost = np.where(side > 0, 3.0, 1.5)
    columns = X.tocsc()
    w = fit_l1_logistic(columns.indptr, columns.indices, columns.data, side, cost, 1e-6)
    theirs = LogisticRegression(l1_ratio=1, C=1, solver="liblinear", fit_intercept=False, tol=1e-8, max_iter=10_000)
    theirs.fit(X.astype(np.float64), side, sample_weight=cost)
    best = objective(theirs.coef_[0], X, side, cost)
    assert objective(w, X, side, cost) <= best * (1 + 1e-5)
    np.testing.assert_allclose(w, theirs.coef_[0], atol=1e-2)
    assert 0 < np.count_nonzero(w) < 40
    loose = fit_l1_logistic(columns.indptr, columns.indices, columns.data, side, cost, 0.1)
    assert best < objective(loose, X, side, cost) < best * 1.1


@pytest.mark.parametrize("order", [93, 410, 721])
def test_a_weight_that_is_all_but_0_does_not_stop_the_descent(order: int) -> None:
    """These orders of the coordinates leave a weight of about 1e-13 behind on the way."""
    random = np.random.default_rng(1)
    X = sp.random(120, 40, density=0.2, format="csr", random_state=1, dtype=np.float32)
    side = np.where(X @ random.standard_normal(40) + 0.3 * random.standard_normal(120) > 0.2, 1, -1)
    cost = np.where(side > 0, 3.0, 1.5)
    columns = X.tocsc()
    _set_order(order)
    w = fit_l1_logistic(columns.indptr, columns.indices, columns.data, side, cost, 1e-6)
    assert objective(w, X, side, cost) <= 96.9053 * (1 + 1e-5)


@njit
def _set_order(seed: int) -> None:
    np.random.seed(seed)


def test_no_weight_is_worth_its_price_below_the_smallest_cost() -> None:
    X = sp.random(50, 10, density=0.5, format="csr", random_state=0, dtype=np.float32)
    side = np.where(np.arange(50) % 2, 1, -1)
    columns = X.tocsc()
    smallest = l1_min_c(X, side, loss="log", fit_intercept=False)
    for factor, some in ((0.99, False), (1.5, True)):
        cost = np.full(50, factor * smallest)
        assert fit_l1_logistic(columns.indptr, columns.indices, columns.data, side, cost, 1e-4).any() == some


def test_a_node_sees_its_rows_and_their_columns() -> None:
    X = sp.random(30, 200, density=0.05, format="csr", random_state=1, dtype=np.float32)
    member, number = np.array([3, 17, 4]), np.full(200, UNSEEN, dtype=np.int32)
    start, row, value, original = local_columns(member, X.indptr, X.indices, X.data, number)
    seen = sp.csc_matrix((value, row, start), shape=(3, len(original) + 1)).toarray()
    np.testing.assert_array_equal(seen[:, -1], 1)  # the bias
    np.testing.assert_array_equal(seen[:, :-1], X[member][:, original].toarray())
    assert len(original) == len(np.unique(X[member].indices))
    assert np.all(number == UNSEEN)


def test_rows_with_disjoint_labels_are_parted() -> None:
    # Labels 0-2 belong to even rows, 3-5 to odd ones: the best two rankings put one half first each.
    random = np.random.default_rng(0)
    label = np.concatenate([3 * (i % 2) + np.sort(random.choice(3, 2, replace=False)) for i in range(60)])
    start = np.arange(0, 121, 2)
    side = 2 * random.integers(0, 2, 60) - 1
    alternate_sides(start, label.astype(np.int32), 6, np.ones(6), side)
    assert np.all(side[::2] == side[0])
    assert np.all(side[1::2] == -side[0])


def test_a_weighty_label_decides_the_side() -> None:
    # Nine rows carry label 0, nine label 1, one row both: it joins those whose label is worth more.
    start = np.append(np.arange(19), 20)
    label = np.array([0] * 9 + [1] * 9 + [0, 1], dtype=np.int32)
    for weight, follows in (([5.0, 1.0], 1), ([1.0, 5.0], -1)):
        for begins in (1, -1):
            side = np.array([1] * 9 + [-1] * 9 + [begins])
            alternate_sides(start, label, 2, np.array(weight), side)
            assert side[-1] == follows


def test_a_single_leaf_is_the_mean_label_vector() -> None:
    X, Y = sp.csr_matrix(np.eye(4)), sp.csr_matrix([[1, 0, 1], [0, 0, 1], [1, 1, 0], [0, 0, 0]])
    columns, scores = FastXML(trees=3, max_leaf=10).fit(X, Y).top_columns(X[:1], 3)
    assert columns.tolist() == [[0, 2, 1]]  # the row without labels is no part of the mean
    np.testing.assert_allclose(scores, [[2 / 3, 2 / 3, 1 / 3]], rtol=1e-6)


def test_training_rows_reach_the_leaves_that_they_made() -> None:
    random = np.random.default_rng(0)
    Y = sp.csr_matrix(np.eye(8, dtype=int)[random.integers(0, 8, 300)])
    X = sp.csr_matrix(Y.toarray() + 0.3 * random.random((300, 8)))
    model = FastXML(trees=2, max_leaf=5, random_state=1).fit(X, Y)
    np.testing.assert_array_equal(model.top_columns(X, 1)[0][:, 0], Y.indices)
    inner = model.forest_.child != LEAF
    # Every node but a root is the child of exactly one node.
    children = np.concatenate([model.forest_.child[inner], model.forest_.child[inner] + 1, model.roots_])
    np.testing.assert_array_equal(np.sort(children), np.arange(len(inner)))


def test_a_leaf_keeps_only_its_best_labels() -> None:
    Y = sp.csr_matrix([[1, 1, 1], [1, 1, 0], [1, 0, 0]])
    model = FastXML(trees=1, labels_per_leaf=2).fit(np.eye(3), Y)
    columns, scores = model.top_columns(np.eye(3)[:1], 3)
    assert columns.tolist() == [[0, 1, 2]]
    assert scores[0, 2] == 0


@pytest.mark.slow
def test_bibtex_as_published(real_data) -> None:
    train, test = load_dataset(real_data("bibtex")), load_dataset(real_data("bibtex"), split="test")
    model = FastXML().fit(train.features, train.labels)
    found = evaluate(model.top_columns(test.features, 5)[0], test.labels)
    assert found["P@1"] == pytest.approx(63.42, abs=1.0)
    assert found["P@3"] == pytest.approx(39.23, abs=1.0)
    assert found["P@5"] == pytest.approx(28.86, abs=1.0)
