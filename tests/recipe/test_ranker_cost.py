import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from rankae.numerics.shortlist import Shortlist
from rankae.recipe.ranker_cost import choose_cost, one_label_in
from rankae.recipe.rules import COSTS


def chosen(wrong: float) -> tuple[float, dict[float, float]]:
    """The choice on rows of three signal words and many random ones, where a share of the labels is wrong."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 8, 1200)
    told = np.where(rng.random(1200) < wrong, rng.integers(0, 8, 1200), truth)
    signal = sp.csr_matrix(np.eye(8, dtype=np.float32)[truth])
    rows = normalize(sp.hstack([signal, sp.random(1200, 400, density=0.03, random_state=1)], format="csr"))
    labels = sp.csr_matrix(np.eye(8, dtype=np.float32)[told])
    everything = Shortlist.union([np.tile(np.arange(8, dtype=np.int32), (1200, 1))])
    fold = np.where(np.arange(1200) % 4 == 0, 0, -1)
    return choose_cost(rows.astype(np.float32), labels, everything, everything, fold, everything)


@pytest.mark.parametrize(("gains", "cost"), [([-0.01], 0.3), ([0.003], 0.3), ([0.01, 0.003], 1.0), ([0.01, 0.01], 3.0)])
def test_a_higher_cost_must_be_worth_it(monkeypatch, gains, cost):
    found = iter(np.cumsum([0.6, *gains]))
    monkeypatch.setattr("rankae.recipe.ranker_cost.average_precision_score", lambda right, scores: next(found))
    assert chosen(0.0)[0] == cost
    assert next(found, None) is None


def test_noisy_labels_ask_for_a_lower_cost():
    cost, merits = chosen(0.5)
    assert set(merits) == set(COSTS[:2])
    assert merits[cost] == max(merits.values())
    assert cost == min(COSTS)


@pytest.mark.parametrize(("labels", "every"), [(50, 1), (400, 4), (10_000, 7), (700_000, 280)])
def test_a_sample_of_labels_tells(labels, every):
    assert one_label_in(labels) == every
