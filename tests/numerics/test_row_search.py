"""The nearest training rows against a plain sort of all inner products."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from rankae.components.neighbours import Neighbours


def some_rows(count: int, words: int, density: float, seed: int) -> sp.csr_matrix:
    rng = np.random.default_rng(seed)
    rows = sp.random(count, words, density, format="csr", dtype=np.float32, random_state=rng)
    rows.data = rng.normal(0.3, 1, rows.nnz).astype(np.float32)
    return rows


@pytest.mark.parametrize("known", [30, 1000, 17_000, 40_000])  # one group of rows, and several
@pytest.mark.parametrize("count", [1, 20, 200])  # 200 are more than the groups that say what the last one reaches
@pytest.mark.parametrize("left_out", [False, True])
def test_same_as_sorting_all_inner_products(known: int, count: int, left_out: bool) -> None:
    rows = some_rows(known, 60, 0.2, 0)
    asked = rows[:25] if left_out else some_rows(25, 60, 0.3, 1)
    component = Neighbours.of(rows, sp.csr_matrix((known, 1), dtype=np.float32), count=count, most_rows=known)
    found, cosine = component.nearest(asked, left_out)
    exact = (asked.astype(np.float64) @ rows.T.astype(np.float64)).toarray()
    if left_out:
        exact[np.arange(25), np.arange(25)] = 0
    best = -np.sort(-exact, axis=1)[:, :count]
    there = cosine[:, : best.shape[1]]
    np.testing.assert_allclose(there, np.maximum(best, 0), atol=1e-5)
    np.testing.assert_array_equal((found >= 0).sum(1), np.minimum(count, (exact > 1e-9).sum(1)))
    for i in range(25):
        kept = found[i][found[i] >= 0]
        assert len(set(kept.tolist())) == len(kept)
        np.testing.assert_allclose(exact[i, kept], cosine[i, : len(kept)], atol=1e-5)


def test_rows_that_are_equally_near_come_in_their_order() -> None:
    known = 40_000
    rows = sp.csr_matrix((np.ones(known, np.float32), np.zeros(known, np.int32), np.arange(known + 1)))
    rows.data[[39_000, 5, 17_000, 1029]] = 2
    component = Neighbours.of(rows, sp.csr_matrix((known, 1), dtype=np.float32), count=6, most_rows=known)
    found, cosine = component.nearest(sp.csr_matrix(np.ones((1, 1), np.float32)))
    assert found.tolist() == [[5, 1029, 17_000, 39_000, 0, 1]]
    assert cosine.tolist() == [[2, 2, 2, 2, 1, 1]]


@pytest.mark.parametrize("left_out", [False, True])
def test_dense_rows_are_compared_with_all_others(left_out: bool) -> None:
    rows = some_rows(700, 30, 0.9, 0)
    asked = rows if left_out else some_rows(300, 30, 0.9, 1)
    component = Neighbours.of(rows, sp.csr_matrix(np.ones((700, 1), dtype=np.float32)))
    found, cosine = component.nearest(asked, left_out)
    exact = (asked @ rows.T).toarray()
    if left_out:
        np.fill_diagonal(exact, 0)
    np.testing.assert_allclose(cosine, np.maximum(-np.sort(-exact, axis=1)[:, :20], 0), atol=1e-5)
    np.testing.assert_allclose(np.take_along_axis(exact, found, axis=1), cosine, atol=1e-5)
    again = Neighbours.from_state(*component.state())
    np.testing.assert_array_equal(again.nearest(asked, left_out)[0], found)
