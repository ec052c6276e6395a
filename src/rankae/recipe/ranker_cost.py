"""Chooses C of the rankers' SVMs by average precision on held-out rows.

The comparison uses a sample of the labels, each with all of its rows: with fewer rows, too large a cost would look
best. If two costs are close, the lower one is chosen, because rankers that fit less closely make errors that differ
more from those of the other components.
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
    the cost, and the average precision of each cost in percent. All entries are ranked together, so that an
    overconfident label costs precision, as it does in predictions.
    """
    frequent_first = np.argsort(-np.bincount(labels.indices, minlength=labels.shape[1]), kind="stable")
    every = max(1, min(rules.COST_SAMPLE[0], labels.shape[1] // rules.COST_SAMPLE[1]))
    picked = np.sort(frequent_first[every // 2 :: every])
    sample_shortlist, sample_without = shortlist.among(picked), without.among(picked)
    sample_labels = labels[:, picked].tocsr()
    fold = np.where(fold == 0, 0, -1)
    held = np.flatnonzero(fold == 0)
    listed = proposed.among(picked).taken(held)
    right = listed.values_of(sample_labels[held]) > 0
    merits = {}
    for cost in rules.COSTS:
        options: dict[str, Any] = {"cost": cost, "last_passes": 0, "tolerance": 0.3, "seed": seed}
        _, out_of_fold = Rankers.train(
            rows, sample_labels, sample_shortlist, fold=fold, without=[sample_without], **options
        )
        score = average_precision_score(right, listed.values_of(out_of_fold[held])) if right.any() else 0.0
        merits[cost] = 100 * float(score)
    low, high = rules.COSTS
    return high if merits[high] > merits[low] + rules.GAIN_OF_COST else low, merits
