"""PD-Sparse: its sparse weights, its projection and its rounds against their definitions, Bibtex against the paper."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize

from rankae.data import load_dataset
from rankae.metrics import evaluate
from rankae.rivals._pdsparse.projection import project_both
from rankae.rivals._pdsparse.rounds import Dual, run_round, zero_dual
from rankae.rivals._pdsparse.weight_rows import (
    ABSENT,
    WeightRows,
    add_entry,
    add_scores,
    empty_rows,
    find,
    only_support,
    shrunk_matrix,
)
from rankae.rivals.pdsparse import PDSparse


def filled(n_features: int, n_labels: int, entries: int) -> tuple[WeightRows, np.ndarray]:
    """Weights added to in random order, with the same sums in a dense array. Feature 0 gets every label."""
    random = np.random.default_rng(0)
    dense, rows = np.zeros((n_features, n_labels), dtype=np.float32), empty_rows(n_features)
    pairs = random.integers(0, [n_features, n_labels], (entries, 2)).tolist() + [[0, k] for k in range(n_labels)]
    for feature, label in pairs:
        at = find(rows, feature, label, n_labels)
        if at == ABSENT:
            rows, at = add_entry(rows, feature, label, n_labels)
        value = np.float32(random.standard_normal())
        rows.value[at] += value
        dense[feature, label] += value
    return rows, dense


def test_weights_are_what_was_added() -> None:
    rows, dense = filled(20, 300, 3000)
    assert rows.capacity[0] == 300, "a full row turns dense"
    assert rows.capacity[1] < 300, "a sparse row stays a table"
    np.testing.assert_array_equal(shrunk_matrix(rows, 300, 0.0).toarray(), dense)
    shrunk = np.sign(dense) * np.maximum(0, np.abs(dense) - 0.5)
    np.testing.assert_allclose(shrunk_matrix(rows, 300, 0.5).toarray(), shrunk, atol=1e-6)
    scores = np.zeros(300, dtype=np.float32)
    add_scores(rows, np.array([0, 7]), np.array([2.0, -1.0], dtype=np.float32), np.float32(0.5), scores)
    np.testing.assert_allclose(scores, 2 * shrunk[0] - shrunk[7], atol=1e-5)


def test_the_support_is_what_shrinking_leaves() -> None:
    rows, dense = filled(20, 300, 3000)
    kept = only_support(rows, 300, 0.5)
    np.testing.assert_array_equal(shrunk_matrix(kept, 300, 0.0).toarray(), np.where(np.abs(dense) > 0.5, dense, 0))
    for feature, label in ((0, 5), (3, 8), (7, 250)):
        assert (find(kept, feature, label, 300) == ABSENT) == (abs(dense[feature, label]) <= 0.5)


@pytest.mark.parametrize("seed", range(10))
def test_the_projection_is_the_nearest_point(seed: int) -> None:
    random = np.random.default_rng(seed)
    aim = random.standard_normal(7)
    positive, negative = aim[:3].copy(), aim[3:].copy()
    project_both(positive, negative, 1.0)
    answer = np.concatenate([positive, negative])
    assert answer.min() >= 0
    assert positive.sum() == pytest.approx(negative.sum(), abs=1e-9)
    assert positive.sum() <= 1 + 1e-9
    best = minimize(
        lambda a: ((a - aim) ** 2).sum(),
        np.zeros(7),
        bounds=[(0, None)] * 7,
        constraints=[
            {"type": "eq", "fun": lambda a: a[:3].sum() - a[3:].sum()},
            {"type": "ineq", "fun": lambda a: 1 - a[:3].sum()},
        ],
        options={"ftol": 1e-14},
    )
    np.testing.assert_allclose(answer, best.x, atol=1e-4)


@pytest.mark.parametrize("gap", [0.0, 1e-17, 2.3e-16, 1e-15, 1e-12])
def test_the_projection_ends_where_the_sum_is_near_rounding_error(gap: float) -> None:
    positive, negative = np.array([1.0 + gap, 0.3, 1.0]), np.array([-1.0, -1.0 + gap])
    project_both(positive, negative, 1.0)
    np.testing.assert_allclose(np.concatenate([positive, negative]), 0, atol=1e-11)


def primal(W: np.ndarray, X: np.ndarray, Y: np.ndarray, l1: float, cost: float) -> float:
    scores = X @ W
    worst = np.where(Y > 0, scores, np.inf).min(axis=1)
    best = np.where(Y > 0, -np.inf, scores).max(axis=1)
    return 0.5 * (W**2).sum() + l1 * np.abs(W).sum() + cost * np.maximum(0, 1 + best - worst).sum()


def dual_bound(W: np.ndarray, dual: Dual) -> float:
    held = sum(dual.negative[i, :n].sum() for i, n in enumerate(dual.n_active))
    return held - 0.5 * (W**2).sum()


def test_rounds_close_the_gap_between_primal_and_dual() -> None:
    random = np.random.default_rng(0)
    X = sp.random(60, 30, 0.3, "csr", np.float32, random_state=0)
    Y = sp.csr_matrix((random.random((60, 12)) < 0.15).astype(np.float32))
    Y = Y[np.diff(Y.indptr) > 0]
    X = sp.csr_matrix(X[: Y.shape[0]])
    dual, weights, bounds = zero_dual(Y), empty_rows(30), []
    data = (X.indptr, X.indices, X.data, Y.indptr, Y.indices, 12)
    for _ in range(300):
        weights = run_round(random.permutation(Y.shape[0]), *data, np.float32(0.2), 1.0, True, 1, dual, weights)
        bounds.append(dual_bound(shrunk_matrix(weights, 12, 0.2).toarray(), dual))
    assert np.all(np.diff(bounds) > -1e-4), "each round improves the dual"
    W = shrunk_matrix(weights, 12, 0.2).toarray()
    value = primal(W, X.toarray(), Y.toarray(), 0.2, 1.0)
    assert bounds[-1] <= value <= 1.02 * bounds[-1]
    assert 0 < np.count_nonzero(W) < 0.9 * W.size


@pytest.mark.parametrize("violators", [1, 5, 9, 30])
def test_a_visited_row_shares_its_loss_among_its_violators(violators: int) -> None:
    X, Y = sp.csr_matrix(np.ones((1, 2), dtype=np.float32)), sp.csr_matrix([[1.0] * 3 + [0.0] * 9])
    dual, data = zero_dual(Y), (X.indptr, X.indices, X.data, Y.indptr, Y.indices, 12)
    run_round(np.arange(1), *data, np.float32(0), 0.1, True, violators, dual, empty_rows(2))
    taken = min(violators, 9)
    assert dual.n_active[0] == taken
    assert set(dual.label[0, :taken]) <= set(range(3, 12))
    np.testing.assert_allclose(dual.negative[0, :taken], 0.1 / taken)
    np.testing.assert_allclose(dual.positive, 0.1 / 3)


def test_more_violators_keep_popular_labels_up_where_rows_have_many() -> None:
    random = np.random.default_rng(0)
    X = sp.random(600, 40, 0.3, "csr", np.float32, random_state=0)
    share = np.r_[np.full(5, 0.5), np.full(95, 0.1)]  # five popular labels, on rows with about 12
    Y = sp.csr_matrix((random.random((600, 100)) < share).astype(np.float32))
    found = [
        evaluate(PDSparse(violators=n).fit(X[:400], Y[:400]).top_columns(X[400:], 5)[0], Y[400:])["P@5"]
        for n in (1, 20)
    ]
    assert found[1] > found[0] + 5


def test_more_l1_leaves_fewer_weights() -> None:
    random = np.random.default_rng(0)
    X = sp.random(200, 50, 0.2, "csr", np.float32, random_state=0)
    Y = sp.csr_matrix(np.eye(5)[random.integers(0, 5, 200)])
    sizes = [PDSparse(l1=l1).fit(X, Y).weights_.nnz for l1 in (0.01, 0.1, 0.3)]
    assert sizes[0] > sizes[1] > sizes[2] > 0


def test_held_out_rows_stop_rounds_that_no_longer_help() -> None:
    """With many labels a row the loss looks at the worst of them only, and fits noise round after round."""
    random = np.random.default_rng(0)
    X = sp.random(600, 40, 0.2, "csr", np.float32, random_state=0)
    chance = 1 / (1 + np.exp(4 - 4 * (X @ random.standard_normal((40, 60)))))
    Y = sp.csr_matrix((random.random(chance.shape) < chance).astype(np.float32))
    short = PDSparse(max_rounds=30).fit(X[:400], Y[:400])
    long = PDSparse(max_rounds=30, held_out=0).fit(X[:400], Y[:400])
    assert max(short.rounds_) < 30
    assert long.rounds_ == (30, 30)
    scores = [evaluate(model.top_columns(X[400:], 5)[0], Y[400:])["P@1"] for model in (short, long)]
    assert scores[0] > scores[1]


def test_one_label_or_all_labels_on_every_row() -> None:
    X = np.eye(3)
    assert PDSparse().fit(X, np.ones((3, 1), dtype=int)).top_columns(X, 1)[0].tolist() == [[0]] * 3
    assert PDSparse().fit(X, np.ones((3, 2), dtype=int)).top_columns(X, 2)[0].tolist() == [[0, 1]] * 3


@pytest.mark.slow
def test_bibtex_as_published(real_data) -> None:
    train, test = load_dataset(real_data("bibtex")), load_dataset(real_data("bibtex"), split="test")
    model = PDSparse().fit(train.features, train.labels)
    found = evaluate(model.top_columns(test.features, 5)[0], test.labels)
    assert found["P@1"] == pytest.approx(61.29, abs=1.5)
    assert found["P@3"] == pytest.approx(35.82, abs=1.5)
    assert found["P@5"] == pytest.approx(25.74, abs=1.5)
