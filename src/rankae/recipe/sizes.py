"""The sizes of a training set that determine its cost: counted for feature rows, extrapolated for raw texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from rankae.data.text import TextFeatures
from rankae.recipe.text_choice import MOST_FEATURES, least_texts_of_pairs

_SAMPLE = 4_000  # texts that are read to tell how many words there will be


@dataclass(frozen=True)
class Sizes:
    """Shape of the training rows, and how often words occur.

    shape, nnz : of the matrix of rows.
    frequencies : number of rows of each word, or of each word of a sample in which one stands for `words_per_entry`.
    read_bytes : memory of the rows and labels as they are read.
    """

    shape: tuple[int, int]
    nnz: int
    frequencies: np.ndarray
    words_per_entry: float = 1.0
    texts: bool = False
    read_bytes: float = 0.0

    def postings(self, most_rows: int) -> float:
        """Pairs of rows that share a word, counted once for each shared word that neighbours look at."""
        followed = self.frequencies[self.frequencies <= most_rows].astype(np.float64)
        return float(self.words_per_entry * (followed * followed).sum())

    def followed(self, most_rows: int) -> float:
        """Entries of the matrix whose words neighbours look at."""
        return float(self.words_per_entry * self.frequencies[self.frequencies <= most_rows].sum(dtype=np.float64))


def sizes_of(rows: sp.csr_matrix | Sequence[str], max_features: int | None = None) -> Sizes:
    if isinstance(rows, sp.csr_matrix):
        frequencies = np.bincount(rows.indices, minlength=rows.shape[1])
        return Sizes(rows.shape, rows.nnz, frequencies, read_bytes=8.0 * rows.nnz)
    return _of_texts(rows, max_features)


def _of_texts(texts: Sequence[str], max_features: int | None) -> Sizes:
    """Number of words and word pairs, extrapolated from their growth between half of a sample and all of it."""
    n = len(texts)
    text_bytes = float(sum(map(len, texts)))
    picked = np.random.default_rng(0).permutation(n)[:_SAMPLE].tolist()
    halves = (max(1, len(picked) // 2), len(picked))
    counted = [_counted([texts[i] for i in picked[:size]], size / n) for size in halves]
    (words_in_half, entries_in_half), (features, entries, frequencies) = counted[0][:2], counted[1]
    beyond = np.log2(max(1.0, n / max(1, len(picked))))
    most = max_features or MOST_FEATURES
    grown = min(float(most), features * (features / max(1, words_in_half)) ** beyond)
    # Rows gain the words that the sample had seen once.
    per_row, per_row_of_half = entries / len(picked), entries_in_half / max(1, len(picked) // 2)
    nnz = int(per_row * min(2.0, per_row / per_row_of_half) ** beyond * n)
    scaled = frequencies * (nnz / max(1, frequencies.sum()) * features / grown)
    read_bytes = text_bytes + 8.0 * nnz
    return Sizes((n, int(grown)), nnz, scaled, grown / max(1, features), texts=True, read_bytes=read_bytes)


def _counted(texts: list[str], share: float) -> tuple[int, int, np.ndarray]:
    of_pairs = least_texts_of_pairs(2, share)
    rows = TextFeatures((1, 2), min_df_longer=of_pairs, max_features=MOST_FEATURES).fit_transform(texts)
    return rows.shape[1], rows.nnz, np.bincount(rows.indices, minlength=rows.shape[1])
