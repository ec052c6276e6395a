"""What the recipe makes of the data where it was told nothing."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from rankae.recipe.notes import Training
from rankae.recipe.settings import RecipeSettings, Resolved, common_labels, resolved


def of_labels(count: int, rows_each: int, effort: str) -> Resolved:
    """The settings for labels of so many rows each."""
    rows = 1000
    places = np.arange(count * rows_each) % rows
    columns = np.repeat(np.arange(count), rows_each)
    labels = sp.csr_matrix((np.ones(len(places), np.float32), (places, columns)), shape=(rows, count))
    words = sp.random(rows, 50, 0.1, format="csr", dtype=np.float32, random_state=0)
    return resolved(RecipeSettings(effort=effort, network=0), words, labels, 1.0, Training())


def test_common_words_are_followed_less_far_at_low_effort() -> None:
    assert of_labels(100, 3, "low").most_rows < of_labels(100, 3, "full").most_rows


def carried_by(counts: list[int]) -> sp.csr_matrix:
    """Labels that stand on so many rows."""
    rows = np.concatenate([np.arange(count) for count in counts])
    columns = np.repeat(np.arange(len(counts)), counts)
    shape = max(counts), len(counts)
    return sp.csr_matrix((np.ones(len(rows), np.float32), (rows, columns)), shape=shape)


def test_the_code_proposes_labels_of_enough_rows() -> None:
    np.testing.assert_array_equal(common_labels(carried_by([5] * 600 + [4] * 100), 5, True), np.arange(600))


def test_where_few_labels_stand_on_enough_rows_the_code_proposes_the_most_frequent_ones() -> None:
    labels = carried_by([1, 9] + [2] * 900)
    np.testing.assert_array_equal(common_labels(labels, 5, True), np.arange(1, 501))


@pytest.mark.parametrize(("labels", "neighbours"), [(400, True), (900, False)])
def test_the_code_proposes_all_of_few_labels_and_whatever_nobody_else_would(labels: int, neighbours: bool) -> None:
    assert common_labels(carried_by([1] * labels), 5, neighbours) is None
