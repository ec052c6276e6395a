"""A simple baseline: the labels of the nearest training rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import normalize

from rankae.base.parameters import Count
from rankae.base.ranker import LabelRanker
from rankae.base.search_space import Between, Space
from rankae.model_file import pack_csr, unpack_csr
from rankae.model_file.schema import Array, csr
from rankae.rivals._ranked import Ranked, nothing_ranked, rank_sparse

ROWS_AT_ONCE = 1024


@dataclass(kw_only=True, eq=False, repr=False)
class NearestRows(LabelRanker):
    """Vote of the nearest training rows, each with its cosine as weight.

    Parameters
    ----------
    neighbours : how many rows vote. A label that none of them carries is not named.
    """

    method = "knn"
    search_space: ClassVar[Space] = {"neighbours": Between(3, 100, log=True)}

    neighbours: Count = 20

    def _fit(self, rows: sp.csr_matrix, labels: sp.csr_matrix) -> None:
        self._index(normalize(rows), labels)

    def _index(self, unit_rows: sp.csr_matrix, labels: sp.csr_matrix) -> None:
        self.rows_, self.labels_ = unit_rows, labels
        # Brute force on sparse rows is one matrix product; trees do not help in thousands of dimensions.
        self.search_ = NearestNeighbors(
            n_neighbors=min(self.neighbours, unit_rows.shape[0]), metric="cosine", algorithm="brute"
        ).fit(unit_rows)

    def _top(self, rows: sp.csr_matrix, k: int) -> Ranked:
        columns, scores = nothing_ranked(rows.shape[0], k)
        for start in range(0, rows.shape[0], ROWS_AT_ONCE):
            block = slice(start, start + ROWS_AT_ONCE)
            columns[block], scores[block] = rank_sparse(self._votes(rows[block]), k)
        return columns, scores

    def _votes(self, rows: sp.csr_matrix) -> sp.csr_matrix:
        distance, neighbour = self.search_.kneighbors(normalize(rows))
        # Orthogonal rows have a tiny vote, so that an empty row gets labels too.
        weight = np.maximum(1 - distance, 1e-6) / neighbour.shape[1]
        indptr = np.arange(rows.shape[0] + 1) * neighbour.shape[1]
        shape = (rows.shape[0], self.rows_.shape[0])
        who = sp.csr_matrix((weight.ravel().astype(np.float32), neighbour.ravel(), indptr), shape=shape)
        return (who @ self.labels_).tocsr()

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        return {}, pack_csr("rows", self.rows_) | pack_csr("labels", self.labels_)

    def _schema(self, settings: dict[str, Any], arrays: dict[str, np.ndarray]) -> dict[str, Array]:
        return csr("rows", "features", "rows") | csr("rows", "labels", "labels")

    def _restore(self, settings: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        rows = unpack_csr(arrays, "rows", (self.training_rows_, self.n_features_in_))
        self._index(rows, unpack_csr(arrays, "labels", (self.training_rows_, len(self.classes_))))
