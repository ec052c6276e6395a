"""FastXML (Prabhu and Varma, 2014): a forest whose nodes split rows to optimise the nDCG of two label rankings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from rankae.base.parameters import Count, Positive, Seed
from rankae.base.ranker import LabelRanker
from rankae.base.search_space import Between, OneOf, Space
from rankae.errors import ModelFileError
from rankae.model_file.schema import Array, csr
from rankae.rivals._trees.forest import Forest, ends_in_leaves, forest_top, grow_forest
from rankae.rivals._trees.growth import LEAF
from rankae.rivals._votes import popular_labels


@dataclass(kw_only=True, eq=False, repr=False)
class FastXML(LabelRanker):
    """Forest of nDCG-optimising trees, with the published settings as defaults.

    Parameters
    ----------
    trees : number of trees; their leaves' mean label vectors are averaged.
    max_leaf : a node with at most this many rows is a leaf.
    labels_per_leaf : a leaf keeps this many of its most frequent labels.
    cost : weight of the logistic loss against the L1 norm of a hyperplane.
    tolerance : of a hyperplane's optimality, relative to that of the zero vector. Looser ones also make the trees
        more different from each other: 0.1 was as good as 0.01 or better on held-out rows, in less than half the time.
    random_state : seed of the first, random assignment of rows to sides in every node.

    Attributes
    ----------
    forest_ : the trees, flat arrays end to end.
    roots_ : the node number of each tree's root.
    popular_ : labels, the most frequent first; they follow the labels that no leaf names.
    """

    method: ClassVar[str] = "fastxml"
    search_space: ClassVar[Space] = {
        "cost": Between(0.1, 10.0, log=True),
        "max_leaf": OneOf((5, 10, 20, 50, 100)),
        "labels_per_leaf": OneOf((20, 50, 100)),
    }

    trees: Count = 50
    max_leaf: Count = 10
    labels_per_leaf: Count = 100
    cost: Positive = 1.0
    tolerance: Positive = 0.1
    random_state: Seed = 0

    def _fit(self, rows: sp.csr_matrix, labels: sp.csr_matrix) -> None:
        self.popular_ = popular_labels(labels)
        self.forest_, self.roots_ = grow_forest(
            rows,
            labels,
            self._label_weights(labels),
            np.random.default_rng(self.random_state).integers(0, 2**31, self.trees),
            most_in_leaf=self.max_leaf,
            labels_per_leaf=self.labels_per_leaf,
            cost=self.cost,
            tolerance=self.tolerance,
        )

    def _label_weights(self, labels: sp.csr_matrix) -> np.ndarray:
        """Weights of labels in the nDCG of a split and in the vector of a leaf."""
        return np.ones(labels.shape[1])

    def _top(self, rows: sp.csr_matrix, k: int) -> tuple[np.ndarray, np.ndarray]:
        return forest_top(self.forest_, self.roots_, self.popular_, rows, k)

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        return {}, {"roots": self.roots_, "popular": self.popular_} | self.forest_._asdict()

    def _schema(self, settings: dict[str, Any], arrays: dict[str, np.ndarray]) -> dict[str, Array]:
        return {
            "roots": Array("iu", (None,), below="nodes"),
            "popular": Array("iu", ("labels",), below="labels"),
            "child": Array("iu", ("nodes",), below="nodes", least=LEAF),
            "bias": Array("f", ("nodes",)),
            "label_score": Array("f", ("entries of label",)),
            **csr("nodes", "features", names=("weight_start", "weight_feature", "weight_value")),
            **csr("nodes", "labels", names=("label_start", "label", "label_score")),
        }

    def _restore(self, settings: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        self.roots_, self.popular_ = arrays["roots"], arrays["popular"]
        self.forest_ = Forest(*(arrays[name] for name in Forest._fields))
        if not ends_in_leaves(self.forest_):
            raise ModelFileError("the model's trees lead nowhere; train it again")
