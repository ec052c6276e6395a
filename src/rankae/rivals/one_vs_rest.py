"""One linear SVM a label on every row: the plain baseline that DiSMEC scaled up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC
from sklearn.utils import check_random_state

from rankae.base.parameters import Count, NotNegative, Positive, RandomState
from rankae.base.ranker import LabelRanker
from rankae.base.search_space import Between, Space
from rankae.model_file import pack_csr, unpack_csr
from rankae.model_file.schema import Array, csr
from rankae.progress import track
from rankae.rivals._limits import few_enough_labels
from rankae.rivals._ranked import Ranked, rank_in_blocks


@dataclass(kw_only=True, eq=False, repr=False)
class OneVsRest(LabelRanker):
    """Squared-hinge linear SVM for each label (scikit-learn's liblinear), on rows scaled to length 1.

    Every label costs a pass over all rows: minutes for hundreds of labels, a day for tens of thousands,
    so `fit` refuses more than `label_limit` labels.

    Parameters
    ----------
    C : weight of the errors against the regularisation.
    drop_below : weights smaller than this are dropped, as DiSMEC does; they cost memory and change next to nothing.
    label_limit : most labels accepted.
    random_state : seed of the order in which liblinear visits rows.
    """

    method = "one-vs-rest"
    search_space: ClassVar[Space] = {"C": Between(0.01, 10.0, log=True)}

    C: Positive = 1.0
    drop_below: NotNegative = 0.01
    label_limit: Count = 5000
    random_state: RandomState = None

    def _fit(self, rows: sp.csr_matrix, labels: sp.csr_matrix) -> None:
        n_rows, n_labels = labels.shape
        few_enough_labels(self, n_labels, self.label_limit, "trains on every row for each label")
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        rows = normalize(rows)
        by_label = labels.tocsc()
        weights = []
        self.bias_ = np.zeros(n_labels, dtype=np.float32)
        for label in track(range(n_labels), "one-vs-rest: labels", total=n_labels):
            carriers = by_label.indices[by_label.indptr[label] : by_label.indptr[label + 1]]
            if len(carriers) in (0, n_rows):  # nothing to separate
                self.bias_[label] = 1.0 if len(carriers) else -1.0
                weights.append(sp.csr_matrix((1, rows.shape[1]), dtype=np.float32))
                continue
            target = np.zeros(n_rows)
            target[carriers] = 1
            svm = LinearSVC(C=self.C, dual=True, random_state=seed).fit(rows, target)
            self.bias_[label] = svm.intercept_[0]
            kept = np.where(np.abs(svm.coef_) >= self.drop_below, svm.coef_, 0)
            weights.append(sp.csr_matrix(kept, dtype=np.float32))
        self.weights_ = sp.vstack(weights, format="csr")

    def _top(self, rows: sp.csr_matrix, k: int) -> Ranked:
        by_feature = self.weights_.T.tocsr()

        def score(block: slice) -> np.ndarray:
            return (normalize(rows[block]) @ by_feature).toarray() + self.bias_

        return rank_in_blocks(score, rows.shape[0], len(self.bias_), k)

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        return {}, pack_csr("weights", self.weights_) | {"bias": self.bias_}

    def _schema(self, settings: dict[str, Any], arrays: dict[str, np.ndarray]) -> dict[str, Array]:
        return {
            "bias": Array("f", ("labels",)),
            **csr("labels", "features", "weights"),
        }

    def _restore(self, settings: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        self.weights_, self.bias_ = (
            unpack_csr(arrays, "weights", (len(self.classes_), self.n_features_in_)),
            arrays["bias"],
        )
