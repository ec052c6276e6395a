"""PfastreXML (Jain, Prabhu and Varma, 2016): FastXML that counts a label by its inverse propensity, for rare labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numba import njit
from sklearn.preprocessing import normalize

from rankae.base.parameters import NotNegative, Range
from rankae.base.search_space import Between, Space
from rankae.data.unit_length import row_lengths, unit_rows
from rankae.metrics.propensity import A, B, inverse_propensities
from rankae.model_file.schema import Array, csr
from rankae.rivals._trees.forest import collect_votes
from rankae.rivals._votes import in_chunks, rank_votes
from rankae.rivals.fastxml import FastXML


@dataclass(kw_only=True, eq=False, repr=False)
class PfastreXML(FastXML):
    """Propensity-scored FastXML, its labels ranked again by how near the row is to the centre of a label's rows.

    The score of a label l that some leaf names, with unit rows x and the mean m_l of the label's unit rows, is

        forest_l ^ alpha  *  (1 / (1 + exp(gamma / 2 ||x - m_l||^2))) ^ (1 - alpha)

    which is the published sum of logarithms before the logarithm, so that a label no leaf names scores 0.

    Parameters
    ----------
    alpha : weight of the forest against the label centres.
    gamma : how fast a label's score falls with the distance from its centre.
    propensity_a, propensity_b : A and B of Jain et al.'s propensity model.

    See `FastXML` for the other parameters.
    """

    method: ClassVar[str] = "pfastrexml"
    search_space: ClassVar[Space] = FastXML.search_space | {"alpha": Between(0.5, 1.0)}

    alpha: Annotated[float, Range(0, 1)] = 0.8
    gamma: NotNegative = 30.0
    propensity_a: NotNegative = A
    propensity_b: NotNegative = B

    def _fit(self, rows: sp.csr_matrix, labels: sp.csr_matrix) -> None:
        super()._fit(rows, labels)
        self.centres_ = sp.csr_matrix(normalize(labels.T, norm="l1") @ unit_rows(rows))

    def _label_weights(self, labels: sp.csr_matrix) -> np.ndarray:
        return inverse_propensities(labels, a=self.propensity_a, b=self.propensity_b)

    def _top(self, rows: sp.csr_matrix, k: int) -> tuple[np.ndarray, np.ndarray]:
        centres, lengths = self.centres_, row_lengths(rows)
        squared_norms = row_lengths(centres) ** 2

        def top(first: int, last: int, columns: np.ndarray, scores: np.ndarray) -> None:
            part = rows[first:last]
            _rerank(
                self.forest_,
                self.roots_,
                self.popular_,
                (centres.indptr, centres.indices, centres.data),
                squared_norms,
                (part.indptr, part.indices, part.data),
                lengths[first:last],
                rows.shape[1],
                self.alpha,
                self.gamma,
                columns,
                scores,
            )

        return in_chunks(top, rows.shape[0], k)

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        settings, arrays = super()._state()
        centres = self.centres_
        return settings, arrays | {
            "centre_start": centres.indptr,
            "centre_feature": centres.indices,
            "centre_value": centres.data,
        }

    def _schema(self, settings: dict[str, Any], arrays: dict[str, np.ndarray]) -> dict[str, Array]:
        centres = csr("labels", "features", names=("centre_start", "centre_feature", "centre_value"))
        return super()._schema(settings, arrays) | centres

    def _restore(self, settings: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        super()._restore(settings, arrays)
        self.centres_ = sp.csr_matrix(
            (arrays["centre_value"], arrays["centre_feature"], arrays["centre_start"]),
            shape=(len(self.classes_), self.n_features_in_),
        )


@njit(cache=True, nogil=True)
def _rerank(
    forest, roots, popular, centres, squared_norms, rows, lengths, n_features, alpha, gamma, columns, scores
) -> None:
    centre_start, centre_feature, centre_value = centres
    row_start, row_feature, row_value = rows
    x = np.zeros(n_features, dtype=np.float32)
    votes = np.zeros(len(popular))
    voted = np.empty(len(popular), dtype=np.int32)
    for i in range(len(row_start) - 1):
        span = slice(row_start[i], row_start[i + 1])
        x[row_feature[span]] = row_value[span]
        n_voted = collect_votes(forest, roots, x, votes, voted)
        for label in voted[:n_voted]:
            product = 0.0
            for e in range(centre_start[label], centre_start[label + 1]):
                product += centre_value[e] * x[centre_feature[e]]
            distance = squared_norms[label]
            if lengths[i] > 0:  # an empty row lies at the origin
                distance += 1.0 - 2.0 * product / lengths[i]
            nearness = 1.0 / (1.0 + np.exp(0.5 * gamma * distance))
            votes[label] = votes[label] ** alpha * nearness ** (1.0 - alpha)
        rank_votes(votes, voted[:n_voted], popular, columns[i], scores[i])
        x[row_feature[span]] = 0.0
