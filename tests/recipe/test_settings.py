"""What the recipe makes of the data where it was told nothing."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from rankae.recipe.notes import Training
from rankae.recipe.settings import RecipeSettings, Resolved, resolved


def of_labels(count: int, rows_each: int, effort: str) -> Resolved:
    """The settings for labels of so many rows each."""
    rows = 1000
    places = np.arange(count * rows_each) % rows
    columns = np.repeat(np.arange(count), rows_each)
    labels = sp.csr_matrix((np.ones(len(places), np.float32), (places, columns)), shape=(rows, count))
    words = sp.random(rows, 50, 0.1, format="csr", dtype=np.float32, random_state=0)
    return resolved(RecipeSettings(effort=effort, network=0), words, labels, 1.0, Training())


@pytest.mark.parametrize(
    ("count", "rows_each", "effort", "cost"),
    [
        (5000, 3, "low", 0.3),  # rare labels
        (5000, 30, "low", 0.5),
        (5000, 3, "full", None),  # held-out rows choose the cost
        (100, 3, "low", None),
    ],
)
def test_rankers_of_rare_labels_are_held_back(count: int, rows_each: int, effort: str, cost: float | None) -> None:
    assert of_labels(count, rows_each, effort).ranker_cost == cost


def test_common_words_are_followed_less_far_at_low_effort() -> None:
    assert of_labels(100, 3, "low").most_rows < of_labels(100, 3, "full").most_rows
