from __future__ import annotations

import numpy as np
import pytest

from rankae.numerics.table import Table
from rankae.numerics.threads import limited_to
from rankae.numerics.top_k import top_k


def by_sorting(scores: np.ndarray, k: int) -> np.ndarray:
    return np.argsort(-scores, axis=1, kind="stable")[:, :k]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("rows", "labels", "k"), [(1, 1, 1), (3, 40, 5), (300, 5000, 7), (5, 4100, 4100), (4, 10, 99)])
def test_same_as_sorting_all_scores(rows: int, labels: int, k: int, threads: int) -> None:
    random = np.random.default_rng(rows)
    # Small whole numbers: products are exact, and equal scores are common.
    codes = random.integers(-3, 4, (rows, 6)).astype(np.float32)
    table = random.integers(-3, 4, (labels, 6)).astype(np.float32)
    bias = random.integers(-2, 3, labels).astype(np.float32)
    with limited_to(threads):
        columns, scores = top_k(codes, table, bias, k)
    exact = codes @ table.T + bias
    expected = by_sorting(exact, k)
    assert columns.dtype == np.int32
    assert np.array_equal(columns, expected)
    assert np.array_equal(scores, np.take_along_axis(exact, expected, axis=1))


def test_no_rows_and_no_bias() -> None:
    table = np.eye(3, dtype=np.float32)
    assert top_k(np.zeros((0, 3), np.float32), table, None, 2)[0].shape == (0, 2)
    assert top_k(np.array([[0, 2, 1]], np.float32), table, None, 2)[0].tolist() == [[1, 2]]


@pytest.mark.parametrize("precision", ["float32", "int8"])
def test_labels_of_short_vectors_are_passed_over_only_where_they_cannot_win(precision: str) -> None:
    random = np.random.default_rng(0)
    # Lengths fall from 4 to nearly 0, in no order of columns; whole numbers times powers of 2, so that ties are exact.
    table = random.integers(-3, 4, (9000, 6)) * 2.0 ** -random.integers(0, 12, (9000, 1))
    stored = Table.at(precision, table)
    table = np.asarray(stored, dtype=np.float32)
    codes = random.integers(-3, 4, (300, 6)).astype(np.float32)
    codes[::7] = 0  # all labels are equal but for their bias
    bias = (random.integers(-2, 3, 9000) / 8).astype(np.float32)
    columns, scores = top_k(codes, stored, bias, 9)
    exact = codes @ table.T + bias
    np.testing.assert_allclose(scores, np.take_along_axis(exact, by_sorting(exact, 9), axis=1), rtol=1e-5, atol=1e-6)
    if precision == "float32":
        assert np.array_equal(columns, by_sorting(exact, 9))
