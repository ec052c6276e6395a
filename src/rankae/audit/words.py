"""The words of a row that speak for a label, by the fold's model: how far the score falls when a word is taken out."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from rankae.base.ranker import LabelRanker
from rankae.components.stack import Stack
from rankae.data.unit_length import unit_rows
from rankae.explain.documents import Document, document_of
from rankae.numerics.sparse_product import sparse_product

_MOST_WORDS = 200  # of a document, from its start
_SHOWN = 6
_WEAKEST = 0.1  # of the strongest word's effect


def words_for(
    model: LabelRanker, document: Any, columns: np.ndarray, feature_names: list[str] | None = None
) -> tuple[Document, list[list[str]]]:
    """For each label column, the words of the document that raise its score most."""
    read = document_of(model, document, feature_names)
    count = min(len(read.words), _MOST_WORDS)
    if not count:
        return read, [[] for _ in columns]
    versions = read.without([(), *((i,) for i in range(count))])
    scores = _scores(model, versions, columns)
    effects = scores[0] - scores[1:]
    found = []
    for effect in effects.T:
        order = np.argsort(-effect, kind="stable")[:_SHOWN]
        found.append([read.words[i] for i in order if effect[i] > max(0.0, _WEAKEST * effect[order[0]])])
    return read, found


def _scores(model: LabelRanker, versions: Any, columns: np.ndarray) -> np.ndarray:
    """versions x columns. Of the default model the code alone is asked: its score is linear in the words."""
    stack = getattr(model, "model_", None)
    if isinstance(stack, Stack):
        rows = unit_rows(sp.csr_matrix(model._rows(versions)))
        codes = sparse_product(rows, np.asarray(stack.code.word_table))
        return codes @ np.asarray(stack.code.label_table)[columns].T
    also = np.tile(columns.astype(np.int32), (_count(versions), 1))
    shortlist, scores, _ = model.score_pairs(versions, also)
    return shortlist.matrix(scores - scores.min(initial=0), len(model.classes_)).tocsc()[:, columns].toarray()


def _count(versions: Any) -> int:
    return versions.shape[0] if sp.issparse(versions) else len(versions)
