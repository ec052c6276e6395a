import numpy as np
import pytest
import scipy.sparse as sp

from rankae.numerics.conjugate_gradients import RidgeSolver, Targets


@pytest.fixture
def problem():
    rows = sp.random(300, 60, density=0.2, random_state=1, format="csr", dtype=np.float32)
    targets = np.random.default_rng(0).standard_normal((300, 150)).astype(np.float32)  # more than one run of columns
    X = rows.toarray().astype(np.float64)
    return rows, targets, np.linalg.solve(X.T @ X + 0.5 * np.eye(60), X.T @ targets)


def test_the_solution_is_that_of_the_normal_equations(problem):
    rows, targets, exact = problem
    found = RidgeSolver(rows, 0.5).solve(targets, iterations=80, tolerance=1e-6)
    np.testing.assert_allclose(found, exact, atol=1e-4)


def test_a_near_solution_saves_iterations(problem):
    rows, targets, exact = problem
    near = (exact + 0.01 * np.random.default_rng(1).standard_normal(exact.shape)).astype(np.float32)
    solver = RidgeSolver(rows, 0.5)
    cold, warm = (np.abs(solver.solve(targets, start, iterations=3) - exact).max() for start in (None, near))
    assert warm < 0.2 * cold


def test_words_that_no_row_has_get_no_weight():
    rows = sp.csr_matrix(np.array([[1, 0, 0], [2, 0, 0]], dtype=np.float32))
    found = RidgeSolver(rows, 1.0).solve(np.ones((2, 4), dtype=np.float32))
    np.testing.assert_allclose(found, [[0.5] * 4, [0] * 4, [0] * 4], atol=1e-5)


def test_rows_in_blocks_and_targets_that_are_a_product_change_nothing(problem, monkeypatch):
    rows, more, _ = problem
    labels = sp.random(300, 40, density=0.1, random_state=2, format="csr", dtype=np.float32)
    table = np.random.default_rng(3).standard_normal((40, 30)).astype(np.float32)
    whole = np.hstack([labels @ table, more])
    expected = RidgeSolver(rows, 0.5).solve(whole, iterations=60, tolerance=1e-6)
    monkeypatch.setattr("rankae.numerics.row_blocks._ROWS", 70)
    found = RidgeSolver(rows, 0.5).solve(Targets(labels, table, more), iterations=60, tolerance=1e-6)
    np.testing.assert_allclose(found, expected, atol=1e-4)
