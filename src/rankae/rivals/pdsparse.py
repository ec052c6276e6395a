"""PD-Sparse (Yen et al., 2016): a max-margin classifier, sparse in the primal by features, in the dual by labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from rankae.base.parameters import Count, NotNegative, Positive, Seed, Share
from rankae.base.ranker import LabelRanker
from rankae.base.search_space import Between, Space
from rankae.data.unit_length import unit_rows
from rankae.model_file.schema import Array, csr
from rankae.progress import Bar, bar
from rankae.rivals._pdsparse.rounds import run_round, share_right, zero_dual
from rankae.rivals._pdsparse.weight_rows import WeightRows, empty_rows, only_support, shrunk_matrix
from rankae.rivals._ranked import rank_in_blocks

MOST_HELD_OUT = 2000


@dataclass(kw_only=True, eq=False, repr=False)
class PDSparse(LabelRanker):
    """Linear scores whose worst positive must beat the best negative by a margin, with L1 and L2 regularisation.

    Rounds with L1 find the weights that matter; rounds without it fit those weights further. Held-out rows say after
    how many rounds of each kind P@1 is highest; then all rows are fitted by so many. Rows are scaled to unit length.

    Parameters
    ----------
    l1 : weight of the L1 norm.
    cost : weight of the margin loss.
    violators : negatives that a row takes up at a visit, those that violate its margin most. They share what its
        positives gain; were there one only, the labels that many rows carry would be pushed down by all the others.
    max_rounds : most rounds over the rows, of each kind.
    patience : rounds without a gain in held-out P@1 before stopping.
    held_out : share of the rows that is held out, at most 2,000 rows; with none, `max_rounds` are run.
    random_state : seed of the held-out rows and of the order in which a round visits rows.

    Attributes
    ----------
    rounds_ : rounds with L1, and without it, that the held-out rows chose.
    """

    method: ClassVar[str] = "pdsparse"
    search_space: ClassVar[Space] = {"l1": Between(1e-3, 1.0, log=True), "cost": Between(0.1, 10.0, log=True)}

    l1: NotNegative = 0.1
    cost: Positive = 1.0
    violators: Count = 20
    max_rounds: Count = 30
    patience: Count = 3
    held_out: Share = 0.1
    random_state: Seed = 0

    def _fit(self, rows: sp.csr_matrix, labels: sp.csr_matrix) -> None:
        rows = unit_rows(rows)
        random = np.random.default_rng(self.random_state)
        all_rows, seed = random.permutation(rows.shape[0]), int(random.integers(2**31))
        n_held_out = min(int(self.held_out * len(all_rows)), MOST_HELD_OUT)
        held_out, train_rows = all_rows[:n_held_out], all_rows[n_held_out:]
        most = with_l1 = without_l1 = self.max_rounds
        with bar("rounds of PD-Sparse", 5 * most) as progress:
            if n_held_out:
                # The dual changes with every round, so the rounds are run again up to the best one.
                (with_l1, _), _ = self._run_rounds(rows, labels, train_rows, held_out, (most, 0), seed, progress)
                rounds = with_l1, most
                (_, without_l1), _ = self._run_rounds(rows, labels, train_rows, held_out, rounds, seed, progress)
            chosen = (with_l1, without_l1)
            self.rounds_, weights = self._run_rounds(rows, labels, all_rows, held_out[:0], chosen, seed, progress)
        self.weights_ = shrunk_matrix(weights, labels.shape[1], 0.0)

    def _run_rounds(
        self,
        rows: sp.csr_matrix,
        labels: sp.csr_matrix,
        train_rows: np.ndarray,
        held_out: np.ndarray,
        most: tuple[int, int],
        seed: int,
        progress: Bar,
    ) -> tuple[tuple[int, int], WeightRows]:
        """Rounds with L1, then without, at most so many of each: (the best number of each, the last weights)."""
        random, n_labels = np.random.default_rng(seed), labels.shape[1]
        data = (rows.indptr, rows.indices, rows.data, labels.indptr, labels.indices, n_labels)
        dual = zero_dual(labels)

        def rounds(weights: WeightRows, l1: np.float32, limit: int, grows: bool) -> tuple[int, WeightRows]:
            best = share_right(held_out, *data, l1, weights) if not grows else -1.0
            best_number = 0 if len(held_out) else limit
            for number in range(1, limit + 1):
                order = random.permutation(train_rows)
                weights = run_round(order, *data, l1, self.cost, grows, self.violators, dual, weights)
                right = share_right(held_out, *data, l1, weights)
                progress.advance(held_out=right)
                if right > best and len(held_out):
                    best, best_number = right, number
                if number - best_number >= self.patience:
                    break
            return best_number, weights

        with_l1, weights = rounds(empty_rows(rows.shape[1]), np.float32(self.l1), most[0], grows=True)
        weights = only_support(weights, n_labels, np.float32(self.l1))
        without_l1, weights = rounds(weights, np.float32(0), most[1], grows=False)
        return (with_l1, without_l1), weights

    def _top(self, rows: sp.csr_matrix, k: int) -> tuple[np.ndarray, np.ndarray]:
        rows = unit_rows(rows)
        weights = self.weights_
        return rank_in_blocks(lambda block: (rows[block] @ weights).toarray(), rows.shape[0], weights.shape[1], k)

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        weights = self.weights_
        return {}, {"feature_start": weights.indptr, "label": weights.indices, "weight": weights.data}

    def _schema(self, settings: dict[str, Any], arrays: dict[str, np.ndarray]) -> dict[str, Array]:
        return csr("features", "labels", names=("feature_start", "label", "weight"))

    def _restore(self, settings: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        self.weights_ = sp.csr_matrix(
            (arrays["weight"], arrays["label"], arrays["feature_start"]),
            shape=(self.n_features_in_, len(self.classes_)),
        )
