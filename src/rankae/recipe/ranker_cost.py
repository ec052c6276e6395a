"""Chooses C of the rankers' SVMs by average precision on held-out rows.

The comparison uses a sample of the labels, each with all of its rows: with fewer rows, too large a cost would look
best. A higher cost must gain something, because rankers that fit less closely make errors that differ more from those
of the other components; the next cost is tried only where the last one gained enough.
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
    """The cost whose rankers separate true from false labels best among those proposed for held-out rows.

    Parameters
    ----------
    shortlist : entries that the rankers are trained on.
    proposed : entries that the rankers will score.
    fold : number of each row's fold; rows of fold 0 are held out.
    without : entries that the rankers without fold 0 are trained on.

    Returns
    -------
    the cost, and the average precision of each cost that was tried, in percent. All entries are ranked together, so
    that an overconfident label costs precision, as it does in predictions.
    """
    frequent_first = np.argsort(-np.bincount(labels.indices, minlength=labels.shape[1]), kind="stable")
    every = one_label_in(labels.shape[1])
    picked = np.sort(frequent_first[every // 2 :: every])
    sample_shortlist, sample_without = shortlist.among(picked), without.among(picked)
    sample_labels = labels[:, picked].tocsr()
    fold = np.where(fold == 0, 0, -1)
    held = np.flatnonzero(fold == 0)
    listed = proposed.among(picked).taken(held)
    right = listed.values_of(sample_labels[held]) > 0
    merits: dict[float, float] = {}
    chosen = rules.COSTS[0]
    for cost in rules.COSTS:
        options: dict[str, Any] = {"cost": cost, "last_passes": 0, "tolerance": 0.3, "seed": seed}
        _, out_of_fold = Rankers.train(
            rows, sample_labels, sample_shortlist, fold=fold, without=[sample_without], **options
        )
        score = average_precision_score(right, listed.values_of(out_of_fold[held])) if right.any() else 0.0
        merits[cost] = 100 * float(score)
        if cost != chosen and merits[cost] <= merits[chosen] + rules.GAIN_OF_COST:
            break
        chosen = cost
    return chosen, merits


def one_label_in(labels: int) -> int:
    """One of how many labels, in the order of frequency, is in the sample."""
    every, fewest, most = rules.COST_SAMPLE
    return max(1, min(every, labels // fewest), labels // most)
