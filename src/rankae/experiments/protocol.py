"""The paper's protocol (section 3): the same search budget for every method on 20 % validation rows, then all rows.

Data sets that are not public are replaced by others, under their own names. Published figures are shown beside ours
only if rows and split are the same.
"""

from __future__ import annotations

from dataclasses import dataclass

from rankae.errors import RankaeError
from rankae.experiments.summary import Summary
from rankae.report.grids import Grid


@dataclass(frozen=True)
class Protocol:
    """Defaults of `rankae compare --protocol`, which options override."""

    data: tuple[str, ...]
    methods: tuple[str, ...]
    trials: int
    stands_for: dict[str, str]


PROTOCOLS = {
    "paper": Protocol(
        data=("delicious-xmc", "mediamill-disc3", "tmdb-plots", "eurlex57k-bow", "debdeps", "bibtex"),
        methods=("rank-ae-paper", "sleec", "fastxml", "pdsparse", "fasttext", "bow-cnn", "xml-cnn", "rank-ae-network"),
        trials=8,
        stands_for={
            "mediamill-disc3": "Mediamill, degraded",
            "tmdb-plots": "IMDb",
            "eurlex57k-bow": "EURLex-4K",
            "debdeps": "Wiki10-31K",
        },
    )
}

# P@1, P@3, P@5 as published for the same rows and the same split.
PUBLISHED: dict[str, dict[str, tuple[float, float, float]]] = {
    "delicious-xmc": {
        "rank-ae-paper": (69.26, 62.72, 57.63),
        "sleec": (67.59, 61.38, 56.56),
        "fastxml": (69.61, 64.12, 59.27),
        "pdsparse": (51.82, 44.18, 38.95),
        "parabel": (67.44, 61.83, 56.75),
        "pfastrexml": (67.13, 62.33, 58.62),
    },
    "bibtex": {
        "sleec": (65.08, 39.64, 28.87),
        "fastxml": (63.42, 39.23, 28.86),
        "pdsparse": (61.29, 35.82, 25.74),
        "parabel": (64.53, 38.56, 27.94),
        "pfastrexml": (63.46, 39.22, 29.14),
    },
}
_PLACES = (1, 3, 5)


def protocol_of(name: str) -> Protocol:
    if name not in PROTOCOLS:
        raise RankaeError(f"there is no protocol {name!r}; choose {', '.join(PROTOCOLS)}")
    return PROTOCOLS[name]


def published_grid(summary: Summary) -> Grid:
    """Our P@k beside the published one, where both are known."""
    lines = []
    for data in summary.data:
        for method, published in PUBLISHED.get(data, {}).items():
            scores = [summary.scores.get((data, method, f"P@{k}")) for k in _PLACES]
            if method not in summary.methods or None in scores:
                continue
            pairs = [
                f"{score.mean:.2f} ({figure:.2f})" for score, figure in zip(scores, published, strict=True) if score
            ]
            lines.append([data, method, *pairs])
    head = ["data", "method", *(f"P@{k}, ours (published)" for k in _PLACES)]
    return Grid("Beside the published figures", head, lines, set(), names=2)
