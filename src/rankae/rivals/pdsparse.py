"""PD-Sparse (Yen et al., 2016): a max-margin classifier, sparse in the primal by features, in the dual by labels."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from rankae.base import LabelRanker
from rankae.progress import bar
from rankae.rivals._limits import above, at_least
from rankae.rivals._pdsparse.rounds import play_round, share_right, zero_dual
from rankae.rivals._pdsparse.weight_rows import empty_rows, only_support, shrunk_matrix
from rankae.rivals._ranked import rank_in_blocks
from rankae.rivals._unit_rows import unit_rows

MOST_HELD_OUT = 2000


class PDSparse(LabelRanker):
    """Linear scores whose worst positive must beat the best negative by a margin, with L1 and L2 regularisation.

    Rounds go on until the P@1 of held-out rows stops growing. Then the held-out rows join in for the last rounds: the
    dual method can take up new rows at any time, so no row is lost. In the end the weights that L1 left alive are
    fitted further without it. Rows are scaled to unit length.

    Parameters
    ----------
    l1 : weight of the L1 norm.
    cost : weight of the margin loss.
    max_rounds : most rounds over the rows, before those with the held-out rows.
    patience : rounds without a gain in held-out P@1 before stopping.
    held_out : share of the rows that is held out, at most 2,000 rows.
    last_rounds : rounds over all rows with L1, and again without.
    random_state : seed of the held-out rows and of the order in which a round visits rows.
    """

    method: ClassVar[str] = "pdsparse"

    def __init__(
        self,
        l1: float = 0.1,
        cost: float = 1.0,
        max_rounds: int = 30,
        patience: int = 3,
        held_out: float = 0.1,
        last_rounds: int = 5,
        random_state: int | None = 0,
    ) -> None:
        self.l1 = l1
        self.cost = cost
        self.max_rounds = max_rounds
        self.patience = patience
        self.held_out = held_out
        self.last_rounds = last_rounds
        self.random_state = random_state

    def _fit(self, rows: sp.csr_matrix, labels: sp.csr_matrix) -> None:
        at_least(self, l1=0, max_rounds=0, patience=1, held_out=0, last_rounds=0)
        above(self, cost=0)
        random = np.random.default_rng(self.random_state)
        rows, n_labels, l1 = unit_rows(rows), labels.shape[1], np.float32(self.l1)
        data = (rows.indptr, rows.indices, rows.data, labels.indptr, labels.indices, n_labels)
        dual, weights = zero_dual(labels), empty_rows(rows.shape[1])
        everyone = random.permutation(rows.shape[0])
        n_held_out = min(int(self.held_out * len(everyone)), MOST_HELD_OUT)
        held_out, players = everyone[:n_held_out], everyone[n_held_out:]

        with bar("rounds of PD-Sparse", self.max_rounds + 2 * self.last_rounds) as progress:
            best, since_best = -1.0, 0
            for _ in range(self.max_rounds):
                weights = play_round(random.permutation(players), *data, l1, self.cost, True, dual, weights)
                right = share_right(held_out, *data, l1, weights)
                progress.advance(held_out=right)
                best, since_best = max(best, right), 0 if right > best else since_best + 1
                if n_held_out and since_best == self.patience:
                    break
            for _ in range(self.last_rounds):
                weights = play_round(random.permutation(everyone), *data, l1, self.cost, True, dual, weights)
                progress.advance()
            weights, none = only_support(weights, n_labels, l1), np.float32(0)
            for _ in range(self.last_rounds):
                weights = play_round(random.permutation(everyone), *data, none, self.cost, False, dual, weights)
                progress.advance()
        self.weights_ = shrunk_matrix(weights, n_labels, 0.0)

    def _top(self, rows: sp.csr_matrix, k: int) -> tuple[np.ndarray, np.ndarray]:
        rows = unit_rows(rows)
        weights = self.weights_
        return rank_in_blocks(lambda block: (rows[block] @ weights).toarray(), rows.shape[0], weights.shape[1], k)

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        weights = self.weights_
        return {}, {"feature_start": weights.indptr, "label": weights.indices, "weight": weights.data}

    def _restore(self, settings: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        self.weights_ = sp.csr_matrix(
            (arrays["weight"], arrays["label"], arrays["feature_start"]),
            shape=(self.n_features_in_, len(self.classes_)),
        )
