"""Conditional Bernoulli mixtures (Li, Wang, Pavlu and Aslam, ICML 2016).

    p(y|x) = sum over components k of  pi_k(x) * product over labels l of  b_kl(y_l|x)

The gate pi is a multinomial logistic regression, each expert b_kl a binary one. Within a component labels are
independent; across components they are not. One component is independent logistic regressions.

Training is generalised EM: a batch's responsibilities, then one gradient step of every weighted regression. Labels are
clustered first, so that components differ from the start, and early responsibilities are tempered.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
import torch
from sklearn.cluster import KMeans
from torch import Tensor, nn
from torch.nn.functional import log_softmax, softplus

from rankae.base.parameters import Count
from rankae.base.search_space import Between, OneOf, Space
from rankae.data.unit_length import unit_rows
from rankae.rivals._label_sets import SetRanker
from rankae.rivals._limits import few_enough_labels
from rankae.rivals._network_training import pick_device, weights_from_arrays, weights_to_arrays
from rankae.rivals._sparse_linear import SparseLinear

_CLUSTERED = 0.1  # share of the training in which components keep to the clusters of labels
_TEMPERED = 0.5  # share after which responsibilities are those of the model
_HOTTEST = 5.0
_SETS_EACH = 10  # best sets of a component whose probability under the whole mixture is computed


@dataclass(kw_only=True, eq=False, repr=False)
class CBM(SetRanker):
    """Conditional Bernoulli mixture; for up to a few hundred labels.

    Parameters
    ----------
    components : K; 1 is independent logistic regressions. See `SetRanker` for the other parameters.
    """

    method = "cbm"
    search_space: ClassVar[Space] = {
        "components": OneOf((1, 5, 10, 20, 50)),
        "decay": Between(1e-4, 1e-1, log=True),
        "epochs": OneOf((10, 20, 40)),
    }

    components: Count = 5

    def _fit(self, rows: sp.csr_matrix, labels: sp.csr_matrix) -> None:
        few_enough_labels(self, labels.shape[1], self.label_limit, "trains every component on each label")
        random = np.random.default_rng(self.random_state)
        rows, device = unit_rows(rows), pick_device(self.device)
        clusters = self._clusters(labels)
        self.mixture_ = _Mixture(rows.shape[1], labels.shape[1], self.components)

        def loss_of(batch: np.ndarray, done: float) -> Tensor:
            y = torch.from_numpy(labels[batch].toarray()).to(device)
            joint = self.mixture_.log_joint(rows[batch], y)
            if done < _CLUSTERED:
                share = nn.functional.one_hot(clusters[batch], self.components).to(joint)
            else:
                heat = 1 + (_HOTTEST - 1) * max(0.0, 1 - done / _TEMPERED)
                share = torch.softmax(joint.detach() / heat, dim=1)
            return -(share * joint).sum(1).mean()

        self._train(self.mixture_, labels.shape[0], loss_of, random)

    def _clusters(self, labels: sp.csr_matrix) -> Tensor:
        """A component for each row, by its labels."""
        if self.components == 1:
            return torch.zeros(labels.shape[0], dtype=torch.int64)
        few = min(self.components, labels.shape[0])
        clusters = KMeans(few, n_init=1, random_state=self.random_state).fit_predict(unit_rows(labels))
        return torch.from_numpy(clusters.astype(np.int64))

    def _marginals(self, rows: sp.csr_matrix) -> np.ndarray:
        log_pi, logits = self.mixture_(rows)
        return torch.einsum("bk,bkl->bl", log_pi.exp(), torch.sigmoid(logits)).cpu().numpy()

    def _sets(self, rows: sp.csr_matrix) -> list[np.ndarray]:
        log_pi, logits = self.mixture_(rows)
        return [
            _best_set(pi, row_logits) for pi, row_logits in zip(log_pi.cpu().numpy(), logits.cpu().numpy(), strict=True)
        ]

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        return {}, weights_to_arrays(self.mixture_)

    def _restore(self, settings: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        self.mixture_ = _Mixture(self.n_features_in_, len(self.classes_), self.components)
        weights_from_arrays(self.mixture_, arrays)
        self.mixture_.to(pick_device(self.device))


class _Mixture(nn.Module):
    def __init__(self, features: int, labels: int, components: int) -> None:
        super().__init__()
        self.gate = SparseLinear(features, components, sparse_gradients=True)
        self.experts = SparseLinear(features, components * labels, sparse_gradients=True)
        self.components = components

    def forward(self, rows: sp.csr_matrix) -> tuple[Tensor, Tensor]:
        """log pi, rows x K, and the logits of b, rows x K x labels."""
        logits = self.experts(rows)
        return log_softmax(self.gate(rows), dim=1), logits.view(len(logits), self.components, -1)

    def log_joint(self, rows: sp.csr_matrix, y: Tensor) -> Tensor:
        """log of pi_k(x) b_k(y|x), rows x K."""
        log_pi, logits = self(rows)
        return log_pi + (logits * y[:, None]).sum(2) - softplus(logits).sum(2)


def _best_set(log_pi: np.ndarray, logits: np.ndarray) -> np.ndarray:
    """The set of highest probability among the best few sets of each component.

    A component's sets are enumerated in the order of their probability: each label that differs from its best set costs
    |logit|, so the next best set has the next smallest sum of costs.
    """
    floor = np.logaddexp(0, logits).sum(1)  # -log b_k of the empty set

    def log_probability(members: np.ndarray) -> float:
        return float(np.logaddexp.reduce(log_pi + logits[:, members].sum(1) - floor))

    best_value, best_members = -np.inf, np.empty(0, dtype=np.int64)
    # A set's probability is bounded by that of the remaining components, so the search can stop early.
    for component in np.argsort(-log_pi):
        if log_pi[component] + np.log(len(log_pi)) < best_value:
            break
        for members in _sets_in_order(logits[component], _SETS_EACH):
            if (value := log_probability(members)) > best_value:
                best_value, best_members = value, members
    return best_members


def _sets_in_order(logits: np.ndarray, count: int) -> list[np.ndarray]:
    cost = np.abs(logits)
    order = np.argsort(cost, kind="stable")[: 2 * count]
    chosen = logits > 0
    sets = [np.flatnonzero(chosen)]
    heap: list[tuple[float, tuple[int, ...]]] = [(float(cost[order[0]]), (0,))] if len(order) else []
    while heap and len(sets) < count:
        total, changed = heapq.heappop(heap)
        flipped = chosen.copy()
        flipped[order[list(changed)]] ^= True
        sets.append(np.flatnonzero(flipped))
        last = changed[-1]
        if last + 1 < len(order):
            step = float(cost[order[last + 1]])
            heapq.heappush(heap, (total + step, (*changed, last + 1)))
            heapq.heappush(heap, (total + step - float(cost[order[last]]), (*changed[:-1], last + 1)))
    return sets
