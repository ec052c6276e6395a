"""The price of a row within the margin, C of the rankers, by what rankers say of rows that they have not seen."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from rankae.metrics import precisions
from rankae.refine.rankers import Rankers
from rankae.refine.shortlist import Shortlist

COSTS = (0.3, 1.0)
_LEARN, _CHECK = 8000, 2000  # rows of the sample; with half as many, too large a cost is chosen


def choose_cost(
    rows: sp.csr_matrix, labels: sp.csr_matrix, shortlist: Shortlist, fold: np.ndarray, seed: int = 0
) -> tuple[float, dict[float, float]]:
    """The cost whose rankers order the shortlists of held-out rows best, and P@1 + P@3 + P@5 of each.

    fold : of each row; rows of fold 0 are held out.
    """
    rng = np.random.default_rng(seed)
    check = rng.permutation(np.flatnonzero(fold == 0))[:_CHECK]
    learn = rng.permutation(np.flatnonzero(fold != 0))[:_LEARN]
    sample = np.sort(np.concatenate([check, learn]))
    own_fold = np.where(fold[sample] == 0, 0, -1)
    held = np.flatnonzero(own_fold == 0)
    own = shortlist.taken(sample)
    listed = own.taken(held)
    found = {}
    for cost in COSTS:
        _, judged = Rankers.train(rows[sample], labels[sample], own, fold=own_fold, cost=cost, tolerance=0.3, seed=seed)
        best = listed.best(listed.values_of(judged[held]), 5)[0]
        found[cost] = sum(precisions(best, labels[sample[held]]).values())
    return max(found, key=found.__getitem__), found
