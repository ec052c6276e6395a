"""Rank labels for texts, with probabilities and explanations: shared by all APIs of the service."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankae.serve import figures
from rankae.serve.models import Served
from rankae.serve.problems import Refused
from rankae.serve.work import WorkQueue

MOST_EXPLAINED = 16  # texts of one request
MOST_EXPLAINED_WORDS = 5_000  # different ones in a text
MOST_EXPLAINED_CHARACTERS = 100_000  # of a text: every word of it comes back as a piece of its own
MOST_REMOVED = 20_000_000  # words x characters: removal reads the text once without each word, some 5 s for so many
_STRONGEST = 10
_NOISE = 1e-4  # rounding error of float32 sums; smaller weights are dropped


@dataclass(frozen=True)
class Asked:
    """Which labels of a text to return.

    threshold : the least probability; None for all of the k best.
    cut : return the labels that the model assigns: by its stored cut, or by its threshold.
    aim : return the labels that pass the cut for this aim, such as "f1" or "precision=0.9", on held-out rows.
    """

    k: int = 5
    threshold: float | None = None
    cut: bool = False
    aim: str | None = None
    exclude: frozenset[str] = frozenset()


Found = list[dict[str, Any]]


async def suggestions(
    work: WorkQueue, model: Served, texts: Sequence[str], asked: Asked, patient: bool = False
) -> list[Found]:
    """The labels of each text, best first."""
    if (asked.threshold is not None or asked.aim is not None) and not model.calibrated:
        raise Refused(
            422, f"{model.name} was not calibrated, so it takes no threshold or aim; train it with --calibrate"
        )
    k = min(asked.k + len(asked.exclude), len(model.names))

    def run(items: Sequence[str]) -> list[tuple]:
        ranked = model.top(items, k, asked.aim)
        return [ranked.row(i) for i in range(len(items))]

    ranked = await work.do(run, texts, (model.fingerprint, k, asked.aim), patient)
    figures.TEXTS.labels(model.name).inc(len(texts))
    return [_entries(model, row, asked) for row in ranked]


def _entries(model: Served, row: tuple, asked: Asked) -> Found:
    found: Found = []
    for column, score, probability, passes in zip(*row, strict=True):
        if column < 0 or ((asked.cut or asked.aim) and not passes) or model.names[column] in asked.exclude:
            continue
        if asked.threshold is not None and probability < asked.threshold:
            continue
        entry = {
            "label": model.names[column],
            "probability": None if probability is None else round(probability, 6),
            "score": float(f"{score:.6g}"),
            "passes": passes,
            "words": [],
        }
        found.append(entry)
        if len(found) == asked.k:
            break
    return found


async def explained(work: WorkQueue, model: Served, texts: Sequence[str], results: list[Found]) -> list[dict[str, Any]]:
    """Fill in the `words` of each result; returns, for each text, its pieces and every word's weights.

    The weight of a word is the drop of the label's score when it is removed, or its term of a linear score.
    """
    if len(texts) > MOST_EXPLAINED:
        raise Refused(422, f"at most {MOST_EXPLAINED} texts can be explained at a time, not {len(texts)}")

    def run(items: Sequence[tuple[str, Found]]) -> list[dict[str, Any]]:
        return [_explanation(model, text, found) for text, found in items]

    views = []
    for text, found in zip(texts, results, strict=True):
        views += await work.do(run, [(text, found)])
    return views


def _explanation(model: Served, text: str, found: Found) -> dict[str, Any]:
    from rankae.explain.documents import document_of
    from rankae.explain.explanation import removal_effects
    from rankae.explain.words_in_network import contributions_of_words

    if len(text) > MOST_EXPLAINED_CHARACTERS:
        raise _too_long(text)
    document = document_of(model.ranker, text)
    if len(document.words) > MOST_EXPLAINED_WORDS:
        raise Refused(422, f"a text of more than {MOST_EXPLAINED_WORDS} different words cannot be explained")
    columns = np.array([model.columns[entry["label"]] for entry in found], dtype=np.int32)
    sums = contributions_of_words(model.ranker, document, columns)
    if sums is None and len(document.words) * len(text) > MOST_REMOVED:
        raise _too_long(text)
    if sums is None:
        scores = np.array([entry["score"] for entry in found], dtype=np.float32)
        weights, view = removal_effects(model.ranker, document, columns, scores), "removal"
    else:
        weights, view = sums[0], "contribution"
    weights = np.where(np.abs(weights) < _NOISE, 0, weights)
    for place, entry in enumerate(found):
        own = weights[:, place]
        order = np.argsort(-np.abs(own), kind="stable")[:_STRONGEST]
        entry["words"] = [[document.words[i], _short(own[i])] for i in order.tolist() if own[i]]
    return {
        "view": view,
        "pieces": [list(piece) for piece in document.pieces()],
        "weights": [[_short(value) for value in weights[:, place]] for place in range(len(found))],
    }


def _too_long(text: str) -> Refused:
    return Refused(422, f"a text of {len(text):,} characters is too long for its words to be explained")


def _short(value: float) -> float:
    return float(f"{float(value):.4g}")
