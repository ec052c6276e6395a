"""Products with a sparse matrix X and its transpose in blocks of rows, so that no dense array has X's length.

X'X t = sum over blocks of  X_b' (X_b t)          X'T = sum over blocks of  X_b' T_b
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from rankae.numerics.sparse_product import sparse_product

_ROWS = 2**16  # of a block


class RowBlocks:
    """A CSR matrix as blocks of rows, and the transpose of each."""

    def __init__(self, rows: sp.csr_matrix) -> None:
        self.rows = rows
        ends = [*range(0, rows.shape[0], _ROWS), rows.shape[0]]
        self.spans = [slice(a, b) for a, b in pairwise(ends)]

    def block(self, span: slice) -> sp.csr_matrix:
        """The rows of a span, without copying them."""
        indptr, shape = self.rows.indptr, (span.stop - span.start, self.rows.shape[1])
        entries = slice(indptr[span.start], indptr[span.stop])
        parts = self.rows.data[entries], self.rows.indices[entries], indptr[span.start : span.stop + 1] - entries.start
        return sp.csr_matrix(parts, shape=shape, copy=False)

    @cached_property
    def _transposed(self) -> list[sp.csr_matrix]:
        return [self.block(span).T.tocsr() for span in self.spans]

    def normal_product(self, table: np.ndarray) -> np.ndarray:
        """X'X table."""
        return self.transposed_product(lambda span: sparse_product(self.block(span), table), table.shape[1])

    def transposed_product(self, of_rows: Callable[[slice], np.ndarray], width: int) -> np.ndarray:
        """X'T; `of_rows` returns the rows of T in a span, `width` is its number of columns."""
        if not self.spans:
            return np.zeros((self.rows.shape[1], width), dtype=np.float32)
        total = sparse_product(self._transposed[0], of_rows(self.spans[0]))
        for span, transposed in zip(self.spans[1:], self._transposed[1:], strict=True):
            total += sparse_product(transposed, of_rows(span))
        return total
