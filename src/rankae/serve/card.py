"""The card of a model: its training data, and its quality on held-out rows, label by label."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankae.base.choices import describe
from rankae.serve.models import Served

_MOST_LABELS = 2_000
_BINS = 10
_DEPTHS = (1, 3, 5)


def card(model: Served) -> dict[str, Any]:
    """The card as JSON values; the figures are null for a model without held-out rows."""
    facts, ranker = model.facts, model.ranker
    shown = {
        "method": ranker.method,
        "preset": ranker.get_params(deep=False).get("preset"),
        "data": facts.get("data"),
        "training rows": f"{ranker.training_rows_:,}",
        "labels": f"{len(model.names):,}",
        "features": f"{ranker.n_features_in_:,}",
        "cut": None if ranker.cuts_ is None else ranker.cuts_.aim,
        "trained in": None if "seconds" not in facts else f"{facts['seconds']:,.0f} s",
        "fingerprint": model.fingerprint[:16],
    }
    choices = facts.get("choices") or {}
    counts = np.asarray(ranker.label_counts_)
    order = np.argsort(-counts, kind="stable")[:_MOST_LABELS]
    labels = [{"label": model.names[i], "rows": int(counts[i])} for i in order.tolist()]
    found: dict[str, Any] = {
        "name": model.name,
        "facts": {name: value for name, value in shown.items() if value is not None},
        "choices": [[name, describe(choice)] for name, choice in choices.items()],
        "figures": None,
        "held_out_rows": 0,
        "calibration": [],
        "labels": labels,
        "all_labels": len(model.names),
    }
    if ranker.held_out_ is not None and ranker.calibration_ is not None:
        found |= _held_out(model, order, labels)
    return found


def _held_out(model: Served, order: np.ndarray, labels: list[dict[str, Any]]) -> dict[str, Any]:
    held_out = model.ranker.held_out_
    assert held_out is not None
    columns, hits = np.asarray(held_out.columns), np.asarray(held_out.hits)
    probabilities = model.ranker.probabilities(columns, held_out.scores)
    given = np.asarray(model.ranker.selected(columns, held_out.scores, probabilities)) & (columns >= 0)
    carried = np.bincount(held_out.labels.indices, minlength=len(model.names))
    right = np.bincount(columns[given & hits], minlength=len(model.names))
    proposed = np.bincount(columns[given], minlength=len(model.names))
    for place, i in enumerate(order.tolist()):
        labels[place] |= {
            "held_out": int(carried[i]),
            "precision": _percent(right[i], proposed[i]),
            "recall": _percent(right[i], carried[i]),
        }
    figures: dict[str, float | None] = {
        f"P@{k}": round(100 * float(hits[:, :k].sum()) / (k * len(hits)), 2) for k in _DEPTHS if k <= hits.shape[1]
    }
    figures["precision at the cut"] = _percent(right.sum(), proposed.sum())
    figures["recall at the cut"] = _percent(right.sum(), carried.sum())
    return {
        "figures": figures,
        "held_out_rows": len(hits),
        "calibration": _bands(probabilities[columns >= 0], hits[columns >= 0]),
    }


def _bands(probabilities: np.ndarray, hits: np.ndarray) -> list[dict[str, Any]]:
    band = np.minimum((probabilities * _BINS).astype(np.int64), _BINS - 1)
    sizes = np.bincount(band, minlength=_BINS)
    sums, right = (np.bincount(band, weights=values, minlength=_BINS) for values in (probabilities, hits))
    return [
        {"said": round(sums[b] / n, 4), "right": round(right[b] / n, 4), "tags": int(n)}
        for b, n in enumerate(sizes)
        if n
    ]


def _percent(part: float, whole: float) -> float | None:
    return round(100 * float(part) / float(whole), 1) if whole else None
