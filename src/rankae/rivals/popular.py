"""The baseline that any method must beat: the most frequent labels, the same for every row."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from rankae.base.ranker import LabelRanker, Rows
from rankae.rivals._ranked import Ranked, rank_dense


class Popular(LabelRanker):
    """Score each label by the share of training rows that carry it."""

    method = "popular"

    def _fit(self, rows: Rows, labels: sp.csr_matrix) -> None:
        counts = np.bincount(labels.indices, minlength=labels.shape[1])
        self.share_ = (counts / max(1, labels.shape[0])).astype(np.float32)

    def _top(self, rows: sp.csr_matrix, k: int) -> Ranked:
        columns, scores = rank_dense(self.share_[None], k)
        return np.repeat(columns, rows.shape[0], axis=0), np.repeat(scores, rows.shape[0], axis=0)

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        return {}, {"share": self.share_}

    def _restore(self, settings: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        self.share_ = arrays["share"]
