"""Rows of the training data as they would be read if they came later: without the words that only they have.

A vocabulary is made of words that several training rows have. What a new text has of other words is passed over, and
its weights are brought to the same length without them. A training row that is held out still has all its words. They
take up a part of its length, so every component would score it lower than it scores a new row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import scipy.sparse as sp

_ENOUGH = 2  # rows of a word that a vocabulary has


@dataclass(frozen=True)
class NewRows:
    """
    Attributes
    ----------
    rows : the rows without the words that too few of the others have, as long as they were.
    factors : of each row, what the words that are left were multiplied by.
    """

    rows: sp.csr_matrix
    factors: np.ndarray

    @classmethod
    def of(cls, rows: sp.csr_matrix, held: np.ndarray) -> Self:
        """The rows at the places `held` as the others would read them.

        A word must be in two of them, or in as many as the rarest word is. If some word is in none, the vocabulary was
        not made of these rows, and new rows may have any word.
        """
        documents = np.bincount(rows.indices, minlength=rows.shape[1])
        held_rows = rows[held]
        known = documents - np.bincount(held_rows.indices, minlength=rows.shape[1]) >= documents.min(initial=_ENOUGH)
        kept = held_rows.copy()
        kept.data = np.where(known[held_rows.indices], held_rows.data, 0).astype(held_rows.data.dtype)
        lengths, left = _lengths(held_rows), _lengths(kept)
        factors = np.where(left > 0, lengths / np.maximum(left, 1e-12), 1).astype(np.float32)
        kept.data *= np.repeat(factors, np.diff(kept.indptr))
        kept.eliminate_zeros()
        return cls(kept, factors)


def _lengths(rows: sp.csr_matrix) -> np.ndarray:
    return np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1), dtype=np.float64)).ravel()
