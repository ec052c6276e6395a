"""Classifier chain (Read et al., 2011): each label's classifier also sees the labels before it in the chain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.multioutput import ClassifierChain as Chain
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC
from sklearn.utils import check_random_state

from rankae.base.parameters import Count, Positive, RandomState
from rankae.base.ranker import LabelRanker
from rankae.base.search_space import Between, Space
from rankae.model_file import pack_csr, unpack_csr
from rankae.model_file.schema import Array, csr
from rankae.rivals._limits import few_enough_labels
from rankae.rivals._ranked import Ranked, rank_in_blocks

ROWS_AT_ONCE = 1024


@dataclass(kw_only=True, eq=False, repr=False)
class ClassifierChain(LabelRanker):
    """A chain of linear SVMs in random order, trained by scikit-learn on rows scaled to length 1.

    Labels are learned one after another on features plus labels, so the cost grows with the square of their number:
    `fit` refuses more than `label_limit`.

    Parameters
    ----------
    C : weight of the errors against the regularisation.
    label_limit : most labels accepted.
    random_state : seed of the order of the chain and of liblinear.
    """

    method = "classifier-chain"
    search_space: ClassVar[Space] = {"C": Between(0.01, 10.0, log=True)}

    C: Positive = 1.0
    label_limit: Count = 1000
    random_state: RandomState = None

    def _fit(self, rows: sp.csr_matrix, labels: sp.csr_matrix) -> None:
        n_rows, n_labels = labels.shape
        few_enough_labels(self, n_labels, self.label_limit, "learns labels one after another")
        counts = np.bincount(labels.indices, minlength=n_labels)
        learnable = np.flatnonzero((counts > 0) & (counts < n_rows))
        # A label of no row, or of every row, has a constant score and is not part of the chain.
        self.bias_ = np.where(counts == 0, -1, 1).astype(np.float32)
        self.order_ = np.zeros(0, dtype=np.int64)
        self.feature_weights_ = sp.csr_matrix((n_labels, rows.shape[1]), dtype=np.float32)
        self.label_weights_ = np.zeros((0, 0), dtype=np.float32)
        if len(learnable) == 0:
            return
        random = check_random_state(self.random_state)
        svm = LinearSVC(C=self.C, dual=True, random_state=random.randint(2**31 - 1))
        order = random.permutation(len(learnable))
        chain = Chain(svm, order=order).fit(normalize(rows), labels[:, learnable].toarray())
        self._take(chain, learnable[order], rows.shape[1])

    def _take(self, chain: Chain, order: np.ndarray, n_features: int) -> None:
        """Keep the chain as weights: of features for every label, and of the labels before it (lower triangle)."""
        self.order_ = order
        self.bias_[order] = [svm.intercept_[0] for svm in chain.estimators_]
        blocks = [sp.csr_matrix(svm.coef_[:, :n_features], dtype=np.float32) for svm in chain.estimators_]
        ones = np.ones(len(order), dtype=np.float32)
        place = sp.csr_matrix((ones, (order, np.arange(len(order)))), shape=(len(self.bias_), len(order)))
        self.feature_weights_ = (place @ sp.vstack(blocks)).tocsr()
        self.label_weights_ = np.zeros((len(order), len(order)), dtype=np.float32)
        for rank, svm in enumerate(chain.estimators_):
            self.label_weights_[rank, :rank] = svm.coef_[0, n_features:]

    def _top(self, rows: sp.csr_matrix, k: int) -> Ranked:
        by_feature = self.feature_weights_.T.tocsr()

        def score(block: slice) -> np.ndarray:
            return self._follow((normalize(rows[block]) @ by_feature).toarray() + self.bias_)

        return rank_in_blocks(score, rows.shape[0], len(self.bias_), k, most_rows=ROWS_AT_ONCE)

    def _follow(self, scores: np.ndarray) -> np.ndarray:
        """Go along the chain and add the contributions of the labels decided before to each label's score."""
        decided = np.zeros((len(scores), len(self.order_)), dtype=np.float32)
        for rank, label in enumerate(self.order_):
            scores[:, label] += decided[:, :rank] @ self.label_weights_[rank, :rank]
            decided[:, rank] = scores[:, label] > 0
        return scores

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        arrays: dict[str, np.ndarray] = {"order": self.order_, "bias": self.bias_, "label_weights": self.label_weights_}
        return {}, arrays | pack_csr("feature_weights", self.feature_weights_)

    def _schema(self, settings: dict[str, Any], arrays: dict[str, np.ndarray]) -> dict[str, Array]:
        return {
            "order": Array("iu", ("chain",), below="labels"),
            "bias": Array("f", ("labels",)),
            "label_weights": Array("f", ("chain", "chain")),
            **csr("labels", "features", "feature_weights"),
        }

    def _restore(self, settings: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        self.order_, self.bias_, self.label_weights_ = arrays["order"], arrays["bias"], arrays["label_weights"]
        self.feature_weights_ = unpack_csr(arrays, "feature_weights", (len(self.classes_), self.n_features_in_))
