"""Vectors beside words: dense columns that are appended to the weighted words of a row, in one CSR matrix.

They come from a pretrained encoder of texts, or from the user, for example of an image or a product.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numba import njit

from rankae.data.encoders import Encoder
from rankae.data.encoders.places import encoder_of_digest
from rankae.errors import DataError, ModelFileError

MOST_NUMBERS = 16384  # of a vector


class TextWithVector(str):
    """A text with the vector that the user gives with it, so that they stay together in lists, samples and splits."""

    vector: np.ndarray

    @classmethod
    def of(cls, text: str, vector: np.ndarray) -> Self:
        instance = cls(text)
        instance.vector = vector
        return instance


class VectorBlock:
    """The vectors of rows, scaled to length `weight`; a row of words has length 1.

    encoder : computes them from texts; None if they are given with the texts.
    """

    def __init__(self, size: int, weight: float, encoder: Encoder | None = None) -> None:
        self.size, self.weight = size, weight
        self._encoder = encoder
        self._named = None if encoder is None else (encoder.name, encoder.digest)

    @classmethod
    def given_with(cls, texts: Sequence[str], weight: float = 1.0) -> VectorBlock | None:
        """For texts that come with vectors; None if they do not."""
        first = next(iter(texts), None)
        return cls(len(first.vector), weight) if isinstance(first, TextWithVector) else None

    @property
    def name(self) -> str:
        return "vector" if self._named is None else self._named[0]

    @property
    def columns(self) -> list[str]:
        """A name for each number."""
        return [f"{self.name}:{i}" for i in range(self.size)]

    def weighing(self, weight: float) -> VectorBlock:
        block = VectorBlock(self.size, weight, self._encoder)
        block._named = self._named
        return block

    def vectors(self, texts: Sequence[str]) -> np.ndarray:
        """Of length 1 each, float32."""
        if self._named is None:
            return unit(given_vectors(texts, self.size))
        if self._encoder is None:
            self._encoder = encoder_of_digest(*self._named)
        return self._encoder.encode(texts)

    def beside(self, words: sp.csr_matrix, vectors: np.ndarray) -> sp.csr_matrix:
        """The columns of the words, followed by those of the vectors."""
        return side_by_side(words, vectors * np.float32(self.weight))

    def state(self) -> dict[str, Any]:
        name, digest = self._named or (None, None)
        return {"size": self.size, "weight": self.weight, "encoder": name, "digest": digest}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> VectorBlock:
        size, weight, name, digest = (state[key] for key in ("size", "weight", "encoder", "digest"))
        if not (isinstance(size, int) and 0 < size <= MOST_NUMBERS and 0 < weight < 1e6):
            raise ModelFileError(f"the model has vectors of {size} numbers of weight {weight}; train it again")
        block = cls(size, float(weight))
        if name is not None:
            if not (isinstance(name, str) and isinstance(digest, str) and digest.isalnum()):
                raise ModelFileError("the model does not say which encoder it reads texts with; train it again")
            block._named = name, digest
        return block

    def __getstate__(self) -> dict[str, Any]:
        """For pickling: without the encoder, which is found again by its digest."""
        return self.__dict__ | {"_encoder": None}


def with_vectors(X: Any) -> Any:
    """(texts, array) as texts that carry their vectors, (CSR, array) as one matrix; anything else as it is."""
    if not (isinstance(X, tuple) and len(X) == 2 and _is_table(X[1]) and not isinstance(X[0], str)):
        return X
    rows, vectors = X[0], checked_vectors(X[1])
    count = rows.shape[0] if hasattr(rows, "shape") else len(rows)
    if count != len(vectors):
        raise DataError(f"there are {count} rows but {len(vectors)} vectors")
    if sp.issparse(rows):
        return beside_features(sp.csr_matrix(rows, dtype=np.float32), vectors)
    texts = list(rows)
    if wrong := next((i for i, text in enumerate(texts) if not isinstance(text, str)), None):
        raise DataError(f"row {wrong}: a text was expected beside the vector, not {type(texts[wrong]).__name__}")
    return [TextWithVector.of(text, vector) for text, vector in zip(texts, vectors, strict=True)]


def beside_features(rows: sp.csr_matrix, vectors: np.ndarray) -> sp.csr_matrix:
    """Features and vectors, each vector scaled to the length of its row, so that both have equal weight."""
    lengths = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1))).ravel()
    return side_by_side(rows, unit(vectors) * np.where(lengths > 0, lengths, 1)[:, None].astype(np.float32))


def given_vectors(texts: Sequence[str], size: int) -> np.ndarray:
    """The vectors that texts carry."""
    vectors = np.empty((len(texts), size), dtype=np.float32)
    for i, text in enumerate(texts):
        if not isinstance(text, TextWithVector) or text.vector.shape != (size,):
            found_numbers = f"{len(text.vector)} numbers" if isinstance(text, TextWithVector) else "none"
            raise DataError(
                f"row {i}: the model reads a text and a vector of {size} numbers, and here there are {found_numbers}"
            )
        vectors[i] = text.vector
    return vectors


def checked_vectors(vectors: Any) -> np.ndarray:
    """One row a vector, float32."""
    try:
        table = np.asarray(vectors, dtype=np.float32)
    except (TypeError, ValueError, OverflowError):
        raise DataError("vectors must be a table of numbers, one row for each text") from None
    if table.ndim != 2 or not 0 < table.shape[1] <= MOST_NUMBERS:
        raise DataError(
            f"vectors have shape {table.shape}; give rows of the same number of numbers, at most {MOST_NUMBERS}"
        )
    if not np.isfinite(table).all():
        raise DataError(
            f"vector of row {int(np.flatnonzero(~np.isfinite(table).all(axis=1))[0])} holds NaN or infinity"
        )
    return table


def unit(vectors: np.ndarray) -> np.ndarray:
    """Scaled to length 1; zeros stay."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)


def side_by_side(rows: sp.csr_matrix, vectors: np.ndarray) -> sp.csr_matrix:
    """One CSR matrix of both; all numbers of the vectors are stored, also zeros."""
    n, size = vectors.shape
    starts = rows.indptr + np.arange(n + 1, dtype=np.int64) * size
    if starts[-1] < 2**31:
        starts = starts.astype(np.int32)
    indices = np.empty(starts[-1], dtype=np.int32)
    values = np.empty(starts[-1], dtype=np.float32)
    _merge(rows.indptr, rows.indices, rows.data, vectors, np.int32(rows.shape[1]), starts, indices, values)
    merged = sp.csr_matrix((values, indices, starts), shape=(n, rows.shape[1] + size))
    merged.has_sorted_indices = rows.has_sorted_indices
    merged.has_canonical_format = rows.has_canonical_format
    return merged


@njit(cache=True, nogil=True)
def _merge(starts, indices, values, vectors, first, merged_starts, merged_indices, merged_values):
    for i in range(len(vectors)):
        at = merged_starts[i]
        for t in range(starts[i], starts[i + 1]):
            merged_indices[at], merged_values[at] = indices[t], values[t]
            at += 1
        for j in range(vectors.shape[1]):
            merged_indices[at], merged_values[at] = first + j, vectors[i, j]
            at += 1


def _is_table(given: Any) -> bool:
    return isinstance(given, np.ndarray) and given.ndim == 2
