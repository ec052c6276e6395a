"""Which rows have the words that the search for neighbours leaves out, so that an update can train on whole rows.

The search does not follow the most frequent words, and stores no weights for them. Rows have length 1: what the stored
words leave of it belongs to the others, and is divided among these by their mean squared weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from rankae.errors import ModelFileError
from rankae.numerics.ascending import smallest


@dataclass(frozen=True)
class FrequentWords:
    """Row i has the words `words[places[starts[i]:starts[i + 1]]]` besides those that are stored.

    words : ascending columns.
    squares : for each of them, the mean of its squared weights.
    """

    words: np.ndarray
    squares: np.ndarray
    starts: np.ndarray
    places: np.ndarray

    @classmethod
    def of(cls, rows: sp.csr_matrix, stored: np.ndarray) -> Self:
        """The words of the rows that are not `stored` (bool)."""
        left = ~stored[rows.indices]
        row = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))[left]
        words, places = np.unique(rows.indices[left], return_inverse=True)
        squares = np.bincount(places, np.square(rows.data[left], dtype=np.float64)) / np.bincount(places)
        starts = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=rows.shape[0]))])
        return cls(words.astype(np.int32), squares.astype(np.float32), starts, places)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def beside(self, stored: sp.csr_matrix) -> sp.csr_matrix:
        """The stored rows with these words besides."""
        missing = np.maximum(1 - np.asarray(stored.multiply(stored).sum(1)).ravel(), 0)
        row = np.repeat(np.arange(len(self)), np.diff(self.starts))
        squares = self.squares[self.places]
        of_row = np.bincount(row, squares, minlength=len(self))
        values = np.sqrt(missing[row] * squares / np.maximum(of_row[row], 1e-12)).astype(np.float32)
        return stored + sp.csr_matrix((values, self.words[self.places], self.starts), shape=stored.shape)

    def state(self) -> dict[str, np.ndarray]:
        sizes, places = smallest(np.diff(self.starts)), smallest(self.places)
        return {"words": self.words, "squares": self.squares, "sizes": sizes, "places": places}

    @classmethod
    def from_state(cls, arrays: dict[str, Any], rows: int, words: int) -> Self:
        known, squares, sizes = (arrays[name] for name in ("words", "squares", "sizes"))
        places = arrays["places"].astype(np.int32)
        sound = len(sizes) == rows and squares.shape == known.shape and sizes.sum(dtype=np.int64) == len(places)
        sound = sound and places.max(initial=-1) < len(known) and places.min(initial=0) >= 0
        if not sound or known.max(initial=-1) >= words or not (np.diff(known, prepend=-1) > 0).all():
            raise ModelFileError("the model's rows and their frequent words do not fit; train it again")
        starts = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
        return cls(known, squares, starts, places)
