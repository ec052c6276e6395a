"""The sizes of a training set that say what it will cost: counted for feature rows, extrapolated for raw texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from rankae.data.text import TextFeatures
from rankae.recipe.text_choice import MOST_FEATURES

_SAMPLE = 4_000  # texts that are read to tell how many words there will be


@dataclass(frozen=True)
class Sizes:
    """What the recipe's rules ask of its rows, and how often words occur.

    shape, nnz : of the matrix of rows.
    often : of each word (or of a sample of them, each of which stands for `words_per_entry`), how many rows have it.
    read_bytes : what rows and labels take in memory once they are read.
    """

    shape: tuple[int, int]
    nnz: int
    often: np.ndarray
    words_per_entry: float = 1.0
    texts: bool = False
    read_bytes: float = 0.0

    def postings(self, most_rows: int) -> float:
        """Pairs of a row's word and another row that has it, as far as neighbours follow words."""
        followed = self.often[self.often <= most_rows].astype(np.float64)
        return float(self.words_per_entry * (followed * followed).sum())

    def followed(self, most_rows: int) -> float:
        """Entries of the matrix whose words neighbours follow."""
        return float(self.words_per_entry * self.often[self.often <= most_rows].sum(dtype=np.float64))


def sizes_of(rows: sp.csr_matrix | Sequence[str], max_features: int | None = None) -> Sizes:
    if isinstance(rows, sp.csr_matrix):
        often = np.bincount(rows.indices, minlength=rows.shape[1])
        return Sizes(rows.shape, rows.nnz, often, read_bytes=8.0 * rows.nnz)
    return _of_texts(rows, max_features)


def _of_texts(texts: Sequence[str], max_features: int | None) -> Sizes:
    """Words and pairs of words, by how both grow from half of a sample to all of it."""
    n = len(texts)
    read = float(sum(map(len, texts)))
    picked = np.random.default_rng(0).permutation(n)[:_SAMPLE].tolist()
    counted = [_counted([texts[i] for i in picked[:size]]) for size in (max(1, len(picked) // 2), len(picked))]
    (few, some), (features, entries, often) = counted[0][:2], counted[1]
    beyond = np.log2(max(1.0, n / max(1, len(picked))))
    most = max_features or MOST_FEATURES
    grown = min(float(most), features * (features / max(1, few)) ** beyond)
    # Rows gain the words that the sample had seen once.
    per_row = entries / len(picked) * min(2.0, (entries / len(picked)) / (some / max(1, len(picked) // 2))) ** beyond
    nnz = int(per_row * n)
    scale = nnz / max(1, often.sum()) * features / grown
    return Sizes((n, int(grown)), nnz, often * scale, grown / max(1, features), texts=True, read_bytes=read + 8.0 * nnz)


def _counted(texts: list[str]) -> tuple[int, int, np.ndarray]:
    rows = TextFeatures((1, 2), max_features=MOST_FEATURES).fit_transform(texts)
    return rows.shape[1], rows.nnz, np.bincount(rows.indices, minlength=rows.shape[1])
