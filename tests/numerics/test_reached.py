"""A floor for the k largest of many values: k of them reach it, and few more."""

from __future__ import annotations

import numpy as np
import pytest

from rankae.numerics.reached import reached


@pytest.mark.parametrize("size", [127, 128, 1466, 5000])
@pytest.mark.parametrize("k", [1, 40, 128, 129])
def test_k_values_reach_it_and_not_many_more(size: int, k: int) -> None:
    values = np.random.default_rng(0).standard_normal(size).astype(np.float32)
    lanes = np.empty(128, np.float32)
    floor = reached(values, k, lanes)
    if size < 128 or k > 128:
        assert floor == -np.inf
        return
    assert k <= (values >= floor).sum() <= (2 * k + 2 if k <= 64 else size)
    np.testing.assert_array_equal(lanes, [values[lane::128].max() for lane in range(128)])


def test_equal_values_reach_themselves() -> None:
    assert reached(np.full(300, 2.5, np.float32), 40, np.empty(128, np.float32)) == 2.5
