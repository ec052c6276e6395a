"""The price of a row within the margin, C of the rankers, by what rankers say of rows that they have not seen.

A sample of labels tells, each with all of its rows: with fewer rows, too large a cost would look best. Where the two
costs are close, the lower one is taken: rankers that fit less closely err less alike with the other components.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import average_precision_score

from rankae.components.rankers import Rankers
from rankae.numerics.shortlist import Shortlist
from rankae.recipe import rules


def choose_cost(
    rows: sp.csr_matrix,
    labels: sp.csr_matrix,
    shortlist: Shortlist,
    proposed: Shortlist,
    fold: np.ndarray,
    without: Shortlist,
    seed: int = 0,
) -> tuple[float, dict[float, float]]:
    """The cost whose rankers tell right from wrong best among the labels that are proposed for held-out rows.

    Parameters
    ----------
    shortlist : what the rankers learn from.
    proposed : what they will be asked about.
    fold : of each row; rows of fold 0 are held out.
    without : what rankers learn from if they have not seen fold 0.

    Returns
    -------
    the cost, and the average precision of each, in percent, over all entries together: a label that is sure of itself
    for no reason pushes down those of others, as it does in a ranking.
    """
    frequent_first = np.argsort(-np.bincount(labels.indices, minlength=labels.shape[1]), kind="stable")
    every = max(1, min(rules.COST_SAMPLE[0], labels.shape[1] // rules.COST_SAMPLE[1]))
    picked = np.sort(frequent_first[every // 2 :: every])
    own, left, sample = shortlist.among(picked), without.among(picked), labels[:, picked].tocsr()
    fold = np.where(fold == 0, 0, -1)
    held = np.flatnonzero(fold == 0)
    listed = proposed.among(picked).taken(held)
    right = listed.values_of(sample[held]) > 0
    found = {}
    for cost in rules.COSTS:
        how: dict[str, Any] = {"cost": cost, "last_passes": 0, "tolerance": 0.3, "seed": seed}
        _, out_of_fold = Rankers.train(rows, sample, own, fold=fold, without=[left], **how)
        score = average_precision_score(right, listed.values_of(out_of_fold[held])) if right.any() else 0.0
        found[cost] = 100 * float(score)
    low, high = rules.COSTS
    return high if found[high] > found[low] + rules.GAIN_OF_COST else low, found
