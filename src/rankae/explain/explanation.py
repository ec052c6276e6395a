"""The explanation itself: which words made each predicted label's score rise or fall."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rankae.base.ranker import LabelRanker
from rankae.errors import RankaeError
from rankae.explain.documents import Document, document_of
from rankae.explain.words_in_network import attention_of_words, contributions_of_words

VIEWS = ("auto", "contribution", "removal")
# How deep a ranking is searched for a label whose words were taken out.
_DEEPEST = 1000


@dataclass(frozen=True)
class Explanation:
    """What each word did for each predicted label.

    document : the words, and where they stand.
    columns, labels, scores : the predicted labels, best first.
    contributions : float [words, labels]; above 0 the word made the score rise.
    view : "removal", or "contribution", where `base` + the sum over words is the score (see `rankae.explain`).
    base : float [labels]; the score of a document without words. None for removal.
    attention : float [words], the summed channel attention; None if the model has none.
    """

    document: Document
    columns: np.ndarray
    labels: list[str]
    scores: np.ndarray
    contributions: np.ndarray
    view: str
    base: np.ndarray | None = None
    attention: np.ndarray | None = None

    @property
    def words(self) -> list[str]:
        return self.document.words

    @property
    def says_nothing(self) -> bool:
        """Whether no word made a difference, as where the model knows none of them."""
        return not self.contributions.any()

    def strongest(self, label: int, n: int = 10) -> list[tuple[str, float]]:
        """The words that mattered most for a label (by its place), strongest first, whichever way they worked."""
        weights = self.contributions[:, label]
        order = np.argsort(-np.abs(weights), kind="stable")[:n]
        return [(self.words[i], float(weights[i])) for i in order if weights[i] != 0]

    def to_dict(self) -> dict[str, Any]:
        """JSON values."""
        found: dict[str, Any] = {"view": self.view, "words": self.words, "labels": []}
        for i, label in enumerate(self.labels):
            entry = {"label": label, "score": float(self.scores[i])}
            if self.base is not None:
                entry["base"] = float(self.base[i])
            entry["contributions"] = [round(float(v), 6) for v in self.contributions[:, i]]
            found["labels"].append(entry)
        if self.attention is not None:
            found["attention"] = [round(float(v), 6) for v in self.attention]
        return found


def explain(
    model: LabelRanker, document: Any, k: int = 5, view: str = "auto", feature_names: Sequence[str] | None = None
) -> Explanation:
    """Explain the k best labels of one document.

    Parameters
    ----------
    model : any fitted method.
    document : a text for a model of texts, else a row of features.
    view : "contribution" for exact summands, "removal" for the effect of taking a word out; "auto" takes the first
        where the model's score is a sum over words, else the second.
    feature_names : what to call the features of a row.
    """
    check_is_fitted(model, "classes_")
    if view not in VIEWS:
        raise RankaeError(f"there is no view {view!r}; choose one of {', '.join(VIEWS)}")
    read = document_of(model, document, feature_names)
    columns, scores = (found[0] for found in model.top_columns(read.without([()]), k))
    columns, scores = columns[columns >= 0], scores[columns >= 0]
    sums = contributions_of_words(model, read, columns) if view != "removal" else None
    if view == "contribution" and sums is None:
        raise RankaeError("this model's score is no sum over words; use the view removal")
    base = None
    if sums is not None:
        (contributions, base), view = sums, "contribution"
    else:
        contributions, view = removal_effects(model, read, columns, scores), "removal"
    labels = [str(name) for name in model.classes_[columns]]
    return Explanation(read, columns, labels, scores, contributions, view, base, attention_of_words(model, read))


def removal_effects(model: LabelRanker, document: Document, columns: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """How far each label's score falls when each word is taken out, float32 [words, labels]."""
    if not document.words:
        return np.zeros((0, len(columns)), dtype=np.float32)
    return scores - scores_of(model, document.without([(i,) for i in range(len(document.words))]), columns)


def scores_of(model: LabelRanker, rows: Any, columns: np.ndarray) -> np.ndarray:
    """Scores of some labels for every row; a label that a row's ranking does not reach gets its lowest score."""
    ranked, scores = model.top_columns(rows, _DEEPEST)
    lowest = np.where(ranked >= 0, scores, np.inf).min(axis=1)
    lowest[np.isinf(lowest)] = 0.0
    found = np.repeat(lowest[:, None], len(columns), axis=1).astype(np.float32)
    for i, column in enumerate(columns):
        row, place = np.nonzero(ranked == column)
        found[row, i] = scores[row, place]
    return found
