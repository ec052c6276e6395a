from __future__ import annotations

import numpy as np
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rankae.paper.bags import Bags


@settings(max_examples=40, deadline=None)
@given(rows=st.integers(1, 6), columns=st.integers(1, 9), seed=st.integers(0, 10**6))
def test_both_orders_hold_the_same_matrix(rows: int, columns: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    dense = (random.integers(-3, 4, (rows, columns)) * (random.random((rows, columns)) < 0.5)).astype(np.float32)
    bags = Bags.from_csr(sp.csr_matrix(dense))
    assert np.array_equal(bags.dense(columns).numpy(), dense)
    by_word = np.zeros_like(dense)
    words = torch.repeat_interleave(bags.distinct, bags.word_starts.diff())
    by_word[bags.word_rows, words] = bags.word_weights
    assert np.array_equal(by_word, dense)


def test_unsorted_rows_are_put_in_order() -> None:
    matrix = sp.csr_matrix((np.ones(3, np.float32), np.array([4, 0, 2]), np.array([0, 3])), shape=(1, 5))
    assert Bags.from_csr(matrix).columns.tolist() == [0, 2, 4]
