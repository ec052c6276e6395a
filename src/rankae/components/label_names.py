"""Labels by their names: scores a label by the words that the text shares with its name.

It finds labels with few training rows or none, which no other component can learn. score = x'n, with x the row's
weighted words and n those of the name, weighted by their rarity in the texts. n has length 1 including words that no
text has.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numba import njit

from rankae.components.predictions import Predictions
from rankae.errors import ModelFileError
from rankae.model_file import pack_csr, unpack_csr
from rankae.numerics.row_search import RowSearch
from rankae.numerics.shortlist import Shortlist
from rankae.numerics.threads import across_threads

PROPOSED = 10  # labels for a row: further ones are seldom true, and all components must score them
_MOST_LABELS = 1000  # words in the names of more labels than this count for scores but propose none


class NamePredictions:
    """Predictions for a block of rows (see `Predictions`)."""

    def __init__(self, rows: sp.csr_matrix, names: sp.csr_matrix, search: RowSearch) -> None:
        self.rows, self.names, self.search = rows, names, search

    def propose(self, k: int) -> np.ndarray:
        return self.search.nearest(self.rows, min(k, PROPOSED))[0]

    def scores(self, shortlist: Shortlist) -> np.ndarray:
        scores = np.empty(len(shortlist.columns), dtype=np.float32)
        rows, names = self.rows, self.names
        row = rows.indptr, rows.indices, rows.data
        across_threads(
            _shared, shortlist.starts, shortlist.columns, *row, names.indptr, names.indices, names.data, scores
        )
        return scores


class LabelNames:
    """The weighted words of each label's name, labels x columns of the rows."""

    name = "names"

    def __init__(self, names: sp.csr_matrix) -> None:
        self.names = names if names.has_sorted_indices else names.sorted_indices()
        self._search = RowSearch.over(self.names, _MOST_LABELS)

    def predict(self, rows: sp.csr_matrix) -> Predictions:
        return NamePredictions(rows, self.names, self._search)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of words and of labels."""
        return self.names.shape[1], self.names.shape[0]

    @property
    def has_words(self) -> np.ndarray:
        """bool [L]: whether the label's name has a word that occurs in texts."""
        return np.diff(self.names.indptr) > 0

    def of_labels(self, kept: np.ndarray) -> LabelNames:
        """The names of the `kept` labels (bool); the others have no words."""
        words = np.repeat(kept, np.diff(self.names.indptr))
        starts = np.concatenate([[0], np.cumsum(words)])[self.names.indptr]
        return LabelNames(sp.csr_matrix((self.names.data[words], self.names.indices[words], starts), self.names.shape))

    def with_more(self, names: sp.csr_matrix) -> LabelNames:
        """Extended by the names of further labels."""
        return LabelNames(sp.vstack([self.names, names], format="csr", dtype=np.float32))

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        return {}, pack_csr("names", self.names)

    @classmethod
    def from_state(cls, settings: dict[str, Any], arrays: dict[str, np.ndarray]) -> Self:
        names = unpack_csr(arrays, "names")
        try:
            names.check_format(full_check=True)
        except ValueError:
            raise ModelFileError("the names of the model's labels are inconsistent; train it again") from None
        return cls(names)


@njit(cache=True, nogil=True)
def _shared(first, last, starts, columns, row_starts, row_words, row_values, name_starts, name_words, name_values, out):
    """The inner product of each entry's row and name; names are short, so each of their words is searched in the
    row."""
    for i in range(first, last):
        words = row_words[row_starts[i] : row_starts[i + 1]]
        values = row_values[row_starts[i] : row_starts[i + 1]]
        for t in range(starts[i], starts[i + 1]):
            total = np.float32(0)
            for s in range(name_starts[columns[t]], name_starts[columns[t] + 1]):
                place = np.searchsorted(words, name_words[s])
                if place < len(words) and words[place] == name_words[s]:
                    total += values[place] * name_values[s]
            out[t] = total
