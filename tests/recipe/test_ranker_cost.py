import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from rankae.recipe.ranker_cost import COSTS, choose_cost
from rankae.refine.shortlist import Shortlist


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


def test_the_cost_with_the_best_held_out_precision_is_chosen():
    for wrong in (0.0, 0.5):
        cost, merits = chosen(wrong)
        assert set(merits) == set(COSTS)
        assert merits[cost] == max(merits.values())


def test_noisy_labels_ask_for_a_lower_cost():
    _, merits = chosen(0.5)
    assert merits[min(COSTS)] > merits[max(COSTS)]
