"""Ranking sparse votes: best first, then popular labels, each named once."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from rankae.rivals._votes import in_chunks, popular_labels, rank_votes


def ranked(votes: dict[int, float], popular: list[int], k: int) -> tuple[list[int], list[float]]:
    dense = np.zeros(len(popular))
    for label, vote in votes.items():
        dense[label] = vote
    columns, scores = np.empty(k, dtype=np.int32), np.empty(k, dtype=np.float32)
    rank_votes(dense, np.array(list(votes), dtype=np.int32), np.array(popular, dtype=np.int32), columns, scores)
    assert not dense.any(), "the scratch must be clean for the next row"
    return columns.tolist(), scores.tolist()


def test_votes_come_before_popularity_and_ties_go_to_the_lower_column() -> None:
    assert ranked({4: 0.5, 1: 0.5, 3: 0.75}, [0, 1, 2, 3, 4], k=2) == ([3, 1], [0.75, 0.5])
    assert ranked({2: 0.25}, [3, 2, 0, 1], k=4) == ([2, 3, 0, 1], [0.25, 0, 0, 0])


def test_a_vote_that_is_zero_by_rounding_is_named_once() -> None:
    assert ranked({1: 0.0, 2: 0.5}, [1, 0, 2], k=3)[0] == [2, 1, 0]


def test_popular_labels_are_counted_over_rows() -> None:
    assert popular_labels(sp.csr_matrix([[0, 1, 1], [0, 0, 1]])).tolist() == [2, 1, 0]


def test_every_row_lies_in_one_chunk() -> None:
    def top(first: int, last: int, columns: np.ndarray, scores: np.ndarray) -> None:
        columns[:, 0], scores[:, 0] = np.arange(first, last), 1

    columns, scores = in_chunks(top, 1000, 1)
    np.testing.assert_array_equal(columns[:, 0], np.arange(1000))
    assert np.all(scores == 1)
