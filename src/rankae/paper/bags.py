"""A batch as the network reads it: each row is a bag of weighted words, or of labels."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor


@dataclass(frozen=True)
class Bags:
    """Rows of a CSR matrix, kept in two orders: by row for the forward pass, by word for the backward pass.

    A token is one stored entry. Words are renumbered by their index in `distinct`, so that what depends on the word
    alone is computed once for each distinct word of the batch.
    """

    row_starts: Tensor  # int64 [rows + 1]: row i holds the tokens row_starts[i]:row_starts[i + 1]
    words: Tensor  # int32 [tokens]: index in `distinct`
    weights: Tensor  # float [tokens]: tf-idf, or 1 for labels
    distinct: Tensor  # int64 [words]: columns of the matrix that occur, ascending
    word_starts: Tensor  # int64 [words + 1]: the same tokens, sorted by word
    word_rows: Tensor  # int32 [tokens]
    word_weights: Tensor  # float [tokens]
    codes: Tensor | None = None  # [rows, h]: leave-one-out codes, which replace the output of F's linear path

    @classmethod
    def from_csr(cls, rows: sp.csr_matrix) -> Bags:
        rows = rows if rows.has_sorted_indices else rows.sorted_indices()
        by_word = rows.tocsc()
        counts = np.diff(by_word.indptr)
        distinct = np.flatnonzero(counts)
        place = np.cumsum(counts > 0, dtype=np.int32) - np.int32(1)
        starts = np.concatenate([by_word.indptr[distinct], [rows.nnz]])
        return cls(
            row_starts=torch.from_numpy(rows.indptr.astype(np.int64)),
            words=torch.from_numpy(place[rows.indices]),
            weights=torch.from_numpy(np.asarray(rows.data)),
            distinct=torch.from_numpy(distinct),
            word_starts=torch.from_numpy(starts.astype(np.int64)),
            word_rows=torch.from_numpy(by_word.indices.astype(np.int32, copy=False)),
            word_weights=torch.from_numpy(np.asarray(by_word.data)),
        )

    @classmethod
    def by_row_only(cls, rows: sp.csr_matrix) -> Bags:
        """For prediction from tables of the whole vocabulary: words keep their numbers, and are not sorted by word."""
        none = torch.empty(0, dtype=torch.int64)
        return cls(
            row_starts=torch.from_numpy(rows.indptr.astype(np.int64)),
            words=torch.from_numpy(rows.indices.astype(np.int32, copy=False)),
            weights=torch.from_numpy(np.asarray(rows.data)),
            distinct=none,
            word_starts=none,
            word_rows=none,
            word_weights=none,
        )

    def __len__(self) -> int:
        return len(self.row_starts) - 1

    @property
    def row_lengths(self) -> Tensor:
        return self.row_starts.diff()

    @property
    def token_rows(self) -> Tensor:
        """The row of each token, in row order."""
        return torch.repeat_interleave(torch.arange(len(self), device=self.words.device), self.row_lengths)

    @property
    def columns(self) -> Tensor:
        """The matrix column of each token, in row order."""
        return self.distinct[self.words.long()]

    @property
    def has_negative_weights(self) -> bool:
        return bool((self.weights.cpu().numpy() < 0).any())  # numpy: too little work for torch's threads

    def to(self, device: torch.device | str) -> Bags:
        moved = {name: value.to(device) for name, value in vars(self).items() if value is not None}
        return Bags(**moved)

    def dense(self, width: int) -> Tensor:
        """The batch as a dense matrix rows x width."""
        matrix = self.weights.new_zeros(len(self), width)
        return matrix.index_put_((self.token_rows, self.columns), self.weights)


@dataclass(frozen=True)
class CodedRows:
    """Rows with their leave-one-out codes, which replace the output of F's linear path (see
    `rankae.paper.two_paths`)."""

    rows: sp.csr_matrix
    codes: np.ndarray

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, part: slice | np.ndarray) -> CodedRows:
        return CodedRows(self.rows[part], self.codes[part])

    def bags_by_row(self) -> Bags:
        return replace(Bags.by_row_only(self.rows), codes=torch.from_numpy(self.codes))

    def bags(self) -> Bags:
        return replace(Bags.from_csr(self.rows), codes=torch.from_numpy(self.codes))
