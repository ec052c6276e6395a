"""The price of a row within the margin, C of the rankers, by what rankers say of rows that they have not seen.

A sample of labels tells, each with all of its rows: with fewer rows, too large a cost would look best.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import average_precision_score

from rankae.refine.rankers import Rankers
from rankae.refine.shortlist import Shortlist

COSTS = (0.3, 1.0)
_SHARE, _FEWEST = 0.15, 100  # of the shortlisted entries; of the labels


def choose_cost(
    rows: sp.csr_matrix, labels: sp.csr_matrix, shortlist: Shortlist, fold: np.ndarray, seed: int = 0
) -> tuple[float, dict[float, float]]:
    """The cost whose rankers tell right from wrong best among the shortlisted labels of held-out rows.

    fold : of each row; rows of fold 0 are held out.

    Returns
    -------
    the cost, and the average precision of each, in percent, over all entries together: a label that is sure of itself
    for no reason pushes down those of others, as it does in a ranking.
    """
    order = np.random.default_rng(seed).permutation(labels.shape[1])
    entries = np.cumsum(np.bincount(shortlist.columns, minlength=labels.shape[1])[order])
    enough = int(np.searchsorted(entries, _SHARE * entries[-1])) + 1
    picked = np.sort(order[: max(enough, _FEWEST)])
    own, sample = shortlist.among(picked), labels[:, picked].tocsr()
    fold = np.where(fold == 0, 0, -1)
    held = np.flatnonzero(fold == 0)
    listed = own.taken(held)
    right = listed.values_of(sample[held]) > 0
    found = {}
    for cost in COSTS:
        judged = Rankers.train(rows, sample, own, fold=fold, cost=cost, tolerance=0.3, seed=seed)[1]
        score = average_precision_score(right, listed.values_of(judged[held])) if right.any() else 0.0
        found[cost] = 100 * float(score)
    return max(found, key=found.__getitem__), found
