"""Statistics of a desk's decisions: how many, by whom, and how often the model was right."""

from __future__ import annotations

from collections import Counter
from typing import Any

from rankae.serve.store import Decision, Store

_BINS = 10  # of probability


def statistics(store: Store) -> dict[str, Any]:
    """Statistics over the latest decision on each text.

    `calibration` groups the tags that a person accepted or rejected by the model's probability, and gives the number
    and the accepted share in each band.
    """
    by: Counter[str] = Counter()
    decisions = 0
    for decision in store.all():
        decisions += 1
        by[decision.by] += 1
    accepted: Counter[str] = Counter()
    rejected: Counter[str] = Counter()
    added: Counter[str] = Counter()
    sums = [[0, 0.0, 0] for _ in range(_BINS)]  # tags, probabilities, accepted
    texts = 0
    for verdict in store.latest():
        texts += 1
        accepted.update(verdict.accepted)
        rejected.update(verdict.rejected)
        added.update(verdict.added)
        _count(verdict, sums)
    conflicts = sum(1 for _ in store.conflicts())
    decided, right = sum(accepted.values()) + sum(rejected.values()), sum(accepted.values())
    labels = [
        {"label": name, "accepted": accepted[name], "rejected": rejected[name], "added": added[name]}
        for name in sorted(
            {*accepted, *rejected, *added}, key=lambda name: (-(accepted + rejected + added)[name], name)
        )
    ]
    return {
        "texts": texts,
        "decisions": decisions,
        "conflicts": conflicts,
        "accepted": right,
        "rejected": decided - right,
        "added": sum(added.values()),
        "precision": round(100 * right / decided, 2) if decided else None,
        "recall": round(100 * right / (right + sum(added.values())), 2) if right else None,
        "by": dict(by.most_common()),
        "calibration": [
            {"said": round(total / n, 4), "accepted": round(hits / n, 4), "tags": n} for n, total, hits in sums if n
        ],
        "labels": labels,
    }


def _count(verdict: Decision, sums: list[list[Any]]) -> None:
    accepted, rejected = set(verdict.accepted), set(verdict.rejected)
    for shown in verdict.shown:
        likely, label = shown.get("probability"), shown.get("label")
        if likely is None or label not in accepted | rejected:
            continue
        own = sums[min(_BINS - 1, int(likely * _BINS))]
        own[0] += 1
        own[1] += likely
        own[2] += label in accepted
