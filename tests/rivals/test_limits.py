"""A parameter out of range is one sentence that names method, parameter, limit and value."""

from __future__ import annotations

import numpy as np
import pytest

from rankae.errors import RankaeError
from rankae.methods import registry


@pytest.mark.parametrize(
    ("name", "parameters", "sentence"),
    [
        ("fastxml", {"trees": 0}, "fastxml: trees must be at least 1, but it is 0"),
        ("fastxml", {"cost": 0.0}, "fastxml: cost must be above 0, but it is 0.0"),
        ("pfastrexml", {"gamma": -1}, "pfastrexml: gamma must be at least 0, but it is -1"),
        ("sleec", {"dim": "many"}, "sleec: dim cannot be 'many'; it takes a whole number"),
        ("pdsparse", {"l1": float("nan")}, "pdsparse: l1 must be at least 0, but it is nan"),
    ],
)
def test_out_of_range(name: str, parameters: dict, sentence: str) -> None:
    with pytest.raises(RankaeError, match=f"^{sentence}$"):
        registry.create(name, **parameters).fit(np.eye(3), np.eye(3, dtype=int))
