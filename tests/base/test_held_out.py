"""Held-out predictions keep how near each row is to the training rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from rankae.base.held_out import HeldOut, first_half
from rankae.errors import ModelFileError


def made(nearest: list[float] | None, rows: int = 3) -> HeldOut:
    columns = np.tile(np.array([1, 0], dtype=np.int32), (rows, 1))
    labels = sp.csr_matrix(np.tile([0.0, 1.0], (rows, 1)).astype(np.float32))
    cosine = None if nearest is None else np.array(nearest, dtype=np.float32)
    return HeldOut(columns, columns.astype(np.float32), labels, cosine)


def test_rows_without_a_near_duplicate_are_novel():
    assert made([0.9, 0.2, 0.8]).novel().tolist() == [1, 2]
    assert made(None).novel().tolist() == [0, 1, 2]
    assert made([0.9, 0.9, 0.99]).novel().tolist() == [0, 1, 2]  # nothing would be left


def test_nearness_goes_with_the_rows():
    held_out = made([0.9, 0.2, 0.8])
    assert held_out.taken(np.array([2, 0])).nearest == pytest.approx([0.8, 0.9])
    joined = held_out.joined(made(None, 2), most=4)
    assert joined.nearest == pytest.approx([0, 0, 0.9, 0.2])


def test_nearness_is_saved_and_older_models_have_none():
    held_out = made([0.9, 0.2, 0.8])
    state = held_out.state()
    assert HeldOut.from_state(state, 2).novel().tolist() == [1, 2]
    assert HeldOut.from_state(made(None).state(), 2).nearest is None
    with pytest.raises(ModelFileError, match="do not fit"):
        HeldOut.from_state(state | {"nearest": state["nearest"][:2]}, 2)


def test_alike_rows_are_in_one_half():
    groups = np.repeat(np.arange(10), 3)
    half = first_half(groups)
    assert half.sum() == 15
    assert all(len(set(half[groups == group])) == 1 for group in range(10))
    assert first_half(np.zeros(8)).sum() == 4  # all are alike


def test_groups_go_with_the_rows_and_are_saved():
    held_out = replace(made([0.9, 0.2, 0.8]), groups=np.array([4, 4, 7]))
    assert held_out.evidence().tolist() == [0.5, 0.5, 1]
    assert HeldOut.from_state(held_out.state(), 2).evidence().tolist() == [0.5, 0.5, 1]
    assert held_out.joined(made(None, 2), most=5).evidence().tolist() == [1, 1, 0.5, 0.5, 1]
    others = replace(made([0.1, 0.3, 0.5]), groups=np.array([40, 22, 22]))  # numbered as the rows of another training
    assert held_out.joined(others, most=6).evidence().tolist() == [1, 0.5, 0.5, 0.5, 0.5, 1]
    assert held_out.taken(np.array([0, 2])).evidence().tolist() == [1, 1]
