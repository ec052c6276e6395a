"""Faithfulness of an explanation: deleting the words it names must lower the score faster than deleting random ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankae.base.ranker import LabelRanker
from rankae.explain.explanation import Explanation, scores_of


@dataclass(frozen=True)
class DeletionCurve:
    """Score of one label as words are deleted.

    deleted : number of words deleted, from 0.
    named : the score when words are deleted in the order of the explanation.
    random, random_std : mean and deviation of the score when words are deleted in random order.
    """

    label: str
    deleted: list[int]
    named: list[float]
    random: list[float]
    random_std: list[float]

    @property
    def advantage(self) -> float:
        """Mean difference of the random and the named curve; above 0 the explanation is better than chance."""
        return float(np.mean(np.array(self.random[1:]) - np.array(self.named[1:]))) if len(self.deleted) > 1 else 0.0


def deletion_curve(
    model: LabelRanker, explanation: Explanation, label: int = 0, most: int = 20, draws: int = 10, seed: int = 0
) -> DeletionCurve:
    """Delete up to `most` words one by one, and measure the score of the label at index `label`."""
    words = len(explanation.words)
    steps = list(range(min(most, words) + 1))
    rng = np.random.default_rng(seed)
    orders = [np.argsort(-explanation.contributions[:, label], kind="stable")]
    orders += [rng.permutation(words) for _ in range(draws)]
    rows = explanation.document.without([order[:n].tolist() for order in orders for n in steps])
    scores = scores_of(model, rows, explanation.columns[[label]]).reshape(len(orders), len(steps))
    return DeletionCurve(
        explanation.labels[label],
        steps,
        scores[0].tolist(),
        scores[1:].mean(axis=0).tolist(),
        scores[1:].std(axis=0).tolist(),
    )
