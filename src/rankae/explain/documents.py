"""Documents (texts or rows of features) as lists of distinct words that can be removed."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from rankae.base.inputs import is_text
from rankae.base.ranker import LabelRanker
from rankae.data.text import TextFeatures
from rankae.errors import DataError


class Document(Protocol):
    @property
    def words(self) -> list[str]:
        """Distinct words, in the order in which they first occur."""

    def without(self, removed: Sequence[Collection[int]]) -> Any:
        """One version of the document, as the model reads it, for each collection of words to remove."""

    def pieces(self) -> list[tuple[str, int]]:
        """The document split into words (with their numbers) and the text between them (-1)."""


@dataclass(frozen=True)
class TextDocument:
    """A raw text, split into words as the model does."""

    text: str
    cut: list[tuple[str, int]]
    words: list[str]

    @classmethod
    def read(cls, text: str, features: TextFeatures | None = None) -> TextDocument:
        features = features or TextFeatures()
        text = features.plain(text)
        number: dict[str, int] = {}
        cut: list[tuple[str, int]] = []
        end = 0
        for begin, stop, word in features.spans(text):
            if begin > end:
                cut.append((text[end:begin], -1))
            cut.append((text[begin:stop], number.setdefault(word, len(number))))
            end = stop
        if end < len(text):
            cut.append((text[end:], -1))
        return cls(text, cut, list(number))

    def without(self, removed: Sequence[Collection[int]]) -> list[str]:
        return ["".join(piece for piece, word in self.cut if word not in out) for out in map(set, removed)]

    def pieces(self) -> list[tuple[str, int]]:
        return self.cut


@dataclass(frozen=True)
class RowDocument:
    """A row of features: CSR, 1 x features, and a name for each stored feature."""

    row: sp.csr_matrix
    words: list[str]

    def without(self, removed: Sequence[Collection[int]]) -> sp.csr_matrix:
        values = np.repeat(self.row.data[None], len(removed), axis=0)
        for i, out in enumerate(removed):
            values[i, list(out)] = 0
        stored = len(self.row.indices)
        starts = stored * np.arange(len(removed) + 1)
        indices = np.tile(self.row.indices, len(removed))
        rows = sp.csr_matrix((values.ravel(), indices, starts), shape=(len(removed), self.row.shape[1]))
        rows.eliminate_zeros()
        return rows

    def pieces(self) -> list[tuple[str, int]]:
        parts = [[(word, i), (" ", -1)] for i, word in enumerate(self.words)]
        return [piece for pair in parts for piece in pair][:-1]


def document_of(model: LabelRanker, document: Any, feature_names: Sequence[str] | None = None) -> Document:
    """The document of a user's input: a text, or a row of features (CSR or dense)."""
    if isinstance(document, str):
        if model.reads != "text" and model.text_ is None:
            raise DataError("this model was trained on a feature matrix: explain a row of features, not a text")
        return TextDocument.read(document, model.text_)
    if is_text(document):
        raise DataError("one document can be explained at a time: give a single string")
    if model.reads == "text" or model.text_ is not None:
        raise DataError("this model was trained on raw text: explain a text, not a row of features")
    row = sp.csr_matrix(document, dtype=np.float32)
    if row.shape[0] != 1:
        raise DataError(f"one row can be explained at a time, not {row.shape[0]}")
    row.sum_duplicates()
    row.eliminate_zeros()
    names = [str(feature_names[i]) if feature_names is not None else f"feature {i}" for i in row.indices]
    return RowDocument(row, names)
