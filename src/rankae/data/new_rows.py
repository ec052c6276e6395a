"""Convert held-out training rows to the form that new rows have: without the words that only they contain.

The vocabulary consists of words that several training rows contain. Other words of a new text are ignored, and its
weights are normalised without them. A held-out training row still contains all its words, which take up a part of its
length, so every component would score it lower than a new row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import scipy.sparse as sp

_ENOUGH = 2  # the fewest rows of a word in the vocabulary


@dataclass(frozen=True)
class NewRows:
    """
    Attributes
    ----------
    rows : the rows without the words that too few other rows contain, rescaled to their former length.
    factors : for each row, the factor by which the remaining words were multiplied.
    """

    rows: sp.csr_matrix
    factors: np.ndarray

    @classmethod
    def of(cls, rows: sp.csr_matrix, held: np.ndarray, least: np.ndarray | None = None) -> Self:
        """The rows at the places `held` as the others would read them.

        A word must be in two of them, or in as many as the rarest word is. If some word is in none, the vocabulary was
        not made of these rows, and new rows may have any word.

        least : of each word, the rows that it must be in, where the vocabulary demands more than two.
        """
        documents = np.bincount(rows.indices, minlength=rows.shape[1])
        enough = documents.min(initial=_ENOUGH)
        if least is not None and enough == _ENOUGH:
            enough = np.maximum(enough, np.minimum(least, documents))
        held_rows = rows[held]
        known = documents - np.bincount(held_rows.indices, minlength=rows.shape[1]) >= enough
        kept = held_rows.copy()
        kept.data = np.where(known[held_rows.indices], held_rows.data, 0).astype(held_rows.data.dtype)
        lengths, left = _lengths(held_rows), _lengths(kept)
        factors = np.where(left > 0, lengths / np.maximum(left, 1e-12), 1).astype(np.float32)
        kept.data *= np.repeat(factors, np.diff(kept.indptr))
        kept.eliminate_zeros()
        return cls(kept, factors)


def _lengths(rows: sp.csr_matrix) -> np.ndarray:
    return np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1), dtype=np.float64)).ravel()
