"""Top-k from dense, sparse and listed scores."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rankae.rivals._ranked import rank_dense, rank_in_blocks, rank_pairs, rank_sparse

few_values = st.sampled_from([-np.inf, -1.0, 0.0, 0.5, 2.0])  # few, so that ties are common
matrices = arrays(np.float32, st.tuples(st.integers(0, 5), st.integers(1, 8)), elements=few_values)


def by_full_sort(scores: np.ndarray, k: int) -> tuple[list[list[int]], list[list[float]]]:
    columns, found = [], []
    for row in scores:
        order = sorted((c for c in range(len(row)) if row[c] > -np.inf), key=lambda c, row=row: (-row[c], c))[:k]
        columns.append(order + [-1] * (k - len(order)))
        found.append([row[c] for c in order] + [-np.inf] * (k - len(order)))
    return columns, found


@given(matrices, st.integers(1, 10))
def test_dense_ranking_is_that_of_a_full_sort(scores: np.ndarray, k: int) -> None:
    expected = by_full_sort(scores, k)
    for columns, found in (
        rank_dense(scores, k),
        rank_in_blocks(lambda block: scores[block], *scores.shape, k, most_rows=2),
    ):
        assert columns.dtype == np.int32
        assert found.dtype == np.float32
        assert columns.tolist() == expected[0]
        assert found.tolist() == expected[1]


@given(matrices, st.integers(1, 10))
def test_sparse_ranking_names_only_stored_scores(scores: np.ndarray, k: int) -> None:
    scores = np.where(np.isneginf(scores), 0, scores)
    expected = by_full_sort(np.where(scores == 0, -np.inf, scores), k)
    columns, found = rank_sparse(sp.csr_matrix(scores), k)
    assert columns.tolist() == expected[0]
    assert found.tolist() == expected[1]


def test_lists_of_pairs_are_padded_and_cut() -> None:
    columns, scores = rank_pairs([[(4, 0.9), (1, 0.5), (2, 0.1)], [], [(3, 1.0)]], k=2)
    assert columns.tolist() == [[4, 1], [-1, -1], [3, -1]]
    assert np.isneginf(scores[1]).all()
