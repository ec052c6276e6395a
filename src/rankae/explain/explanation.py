"""The explanation: the words that raise or lower each predicted label's score."""

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
_DEEPEST = 1000  # ranks in which a label is searched after words were removed


@dataclass(frozen=True)
class Explanation:
    """The effect of each word on each predicted label.

    document : the words and their positions.
    columns, labels, scores : the predicted labels, best first.
    contributions : float [words, labels]; positive if the word raises the score.
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
        """Whether no word makes a difference, for example because the model knows none of them."""
        return not self.contributions.any()

    def strongest(self, label: int, n: int = 10) -> list[tuple[str, float]]:
        """The n words with the largest effects, positive or negative, on the label at this index."""
        weights = self.contributions[:, label]
        order = np.argsort(-np.abs(weights), kind="stable")[:n]
        return [(self.words[i], float(weights[i])) for i in order if weights[i] != 0]

    def to_dict(self) -> dict[str, Any]:
        """JSON values."""
        values: dict[str, Any] = {"view": self.view, "words": self.words, "labels": []}
        for i, label in enumerate(self.labels):
            entry = {"label": label, "score": float(self.scores[i])}
            if self.base is not None:
                entry["base"] = float(self.base[i])
            entry["contributions"] = [round(float(v), 6) for v in self.contributions[:, i]]
            values["labels"].append(entry)
        if self.attention is not None:
            values["attention"] = [round(float(v), 6) for v in self.attention]
        return values


def explain(
    model: LabelRanker, document: Any, k: int = 5, view: str = "auto", feature_names: Sequence[str] | None = None
) -> Explanation:
    """Explain the k best labels of one document.

    Parameters
    ----------
    model : any fitted method.
    document : a text for a model of texts, else a row of features.
    view : "contribution" for exact summands, "removal" for the effect of removing a word; "auto" is the first if the
        model's score is a sum over words, else the second.
    feature_names : names of the features of a row.
    """
    check_is_fitted(model, "classes_")
    if view not in VIEWS:
        raise RankaeError(f"there is no view {view!r}; choose one of {', '.join(VIEWS)}")
    read = document_of(model, document, feature_names)
    columns, scores = (ranked[0] for ranked in model.top_columns(read.without([()]), k))
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
    """How far each label's score falls when each word is removed, float32 [words, labels]."""
    if not document.words:
        return np.zeros((0, len(columns)), dtype=np.float32)
    return scores - scores_of(model, document.without([(i,) for i in range(len(document.words))]), columns)


def scores_of(model: LabelRanker, rows: Any, columns: np.ndarray) -> np.ndarray:
    """Scores of some labels for every row; labels outside a row's ranking get its lowest score."""
    ranked, scores = model.top_columns(rows, _DEEPEST)
    lowest = np.where(ranked >= 0, scores, np.inf).min(axis=1)
    lowest[np.isinf(lowest)] = 0.0
    scores_of_columns = np.repeat(lowest[:, None], len(columns), axis=1).astype(np.float32)
    for i, column in enumerate(columns):
        row, place = np.nonzero(ranked == column)
        scores_of_columns[row, i] = scores[row, place]
    return scores_of_columns
