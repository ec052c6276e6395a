"""The paper's rank score: methods are ranked in every line of a table, and a method's ranks are averaged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.stats import rankdata


def rank_scores(lines: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Average rank of each method over the lines that have a score of it; 1 is best.

    A line ranks only the methods that have a score in it. Scores that print alike (two decimals) share the better rank.
    """
    ranks: dict[str, list[float]] = {}
    for line in lines:
        places = rankdata([-round(score, 2) for score in line.values()], method="min")
        for method, place in zip(line, places, strict=True):
            ranks.setdefault(method, []).append(float(place))
    return {method: float(np.mean(method_ranks)) for method, method_ranks in ranks.items()}
