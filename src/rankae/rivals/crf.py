"""A pairwise conditional random field over label sets (Ghamrawi and McCallum, 2005: collective multi-label).

    score(x, y) = sum over labels l in y of (w_l x + b_l)  +  sum over pairs (a, b) of t_ab[y_a, y_b]

Pairs are those that occur together more often than chance. Of a pair's four states (0, 0) is the reference, so three
have a weight. The partition function runs over the supported sets: those of the training rows, where nearly all of the
probability lies; that makes it exact and cheap.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn

from rankae.base.parameters import Count, CountFromZero, NotNegative, Positive
from rankae.base.search_space import Between, OneOf, Space
from rankae.data.unit_length import unit_rows
from rankae.model_file import pack_csr, unpack_csr
from rankae.model_file.schema import Array, csr
from rankae.rivals._label_sets import SetRanker
from rankae.rivals._limits import few_enough_labels
from rankae.rivals._network_training import pick_device, weights_from_arrays, weights_to_arrays
from rankae.rivals._sparse_linear import SparseLinear

_FEWEST_TOGETHER = 3  # rows that a pair of labels must share
_NETWORK = "weights."


@dataclass(kw_only=True, eq=False, repr=False)
class CRF(SetRanker):
    """Pairwise CRF with supported inference; for up to a few hundred labels.

    Parameters
    ----------
    pairs : most pairs of labels that have weights of their own.
    blend : weight of the labels' own logistic scores beside the marginals, for labels that no supported set holds.

    See `SetRanker` for the other parameters.
    """

    method = "crf"
    search_space: ClassVar[Space] = {
        "decay": Between(1e-4, 1e-1, log=True),
        "epochs": OneOf((10, 20, 40)),
        "pairs": OneOf((0, 500, 2000)),
    }

    pairs: CountFromZero = 2000
    blend: NotNegative = 0.01
    learning_rate: Positive = 0.03
    decay: NotNegative = 0.03
    epochs: Count = 20
    label_limit: Count = 500

    def _fit(self, rows: sp.csr_matrix, labels: sp.csr_matrix) -> None:
        few_enough_labels(self, labels.shape[1], self.label_limit, "weighs every supported set of labels")
        random = np.random.default_rng(self.random_state)
        rows, device = unit_rows(rows), pick_device(self.device)
        self.support_, set_of_row = distinct_sets(labels)
        self.pairs_ = pairs_beyond_chance(labels, self.pairs)
        self.field_ = _Field(rows.shape[1], labels.shape[1], len(self.pairs_))
        support = self._prepared(device)

        def loss_of(batch: np.ndarray, done: float) -> Tensor:
            scores = self.field_.set_scores(self.field_.unary(rows[batch]), *support)
            return nn.functional.cross_entropy(scores, torch.from_numpy(set_of_row[batch]).to(device))

        self._train(self.field_, labels.shape[0], loss_of, random)
        self._ready = self._prepared(device)

    def _prepared(self, device: torch.device) -> tuple[Tensor, Tensor]:
        """The supported sets, sets x labels, and the states of their pairs, sets x 3 pairs, sparse."""
        members = torch.from_numpy(self.support_.toarray().astype(np.float32)).to(device)
        states = pair_states(self.support_, self.pairs_).tocoo()
        where = torch.from_numpy(np.stack([states.row, states.col]).astype(np.int64))
        values = torch.ones(states.nnz)
        return members, torch.sparse_coo_tensor(where, values, states.shape, check_invariants=True).coalesce().to(
            device
        )

    def _marginals(self, rows: sp.csr_matrix) -> np.ndarray:
        unary = self.field_.unary(rows)
        p = torch.softmax(self.field_.set_scores(unary, *self._ready), dim=1)
        return ((p @ self._ready[0] + self.blend * torch.sigmoid(unary)) / (1 + self.blend)).cpu().numpy()

    def _sets(self, rows: sp.csr_matrix) -> list[np.ndarray]:
        scores = self.field_.set_scores(self.field_.unary(rows), *self._ready)
        return [self.support_[i].indices.astype(np.int64) for i in scores.argmax(1).tolist()]

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        arrays = pack_csr("support", self.support_) | {"pairs": self.pairs_}
        return {}, arrays | weights_to_arrays(self.field_)

    def _schema(self, settings: dict[str, Any], arrays: dict[str, np.ndarray]) -> dict[str, Array]:
        return {"pairs": Array("iu", (None, 2), below="labels"), **csr("sets", "labels", "support")}

    def _restore(self, settings: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        sets = len(arrays["support.indptr"]) - 1
        self.support_ = unpack_csr(arrays, "support", (sets, len(self.classes_)))
        self.pairs_ = arrays["pairs"]
        self.field_ = _Field(self.n_features_in_, len(self.classes_), len(self.pairs_))
        weights_from_arrays(self.field_, {n: v for n, v in arrays.items() if n.startswith(_NETWORK)})
        device = pick_device(self.device)
        self.field_.to(device)
        self._ready = self._prepared(device)


class _Field(nn.Module):
    def __init__(self, features: int, labels: int, pairs: int) -> None:
        super().__init__()
        self.unary = SparseLinear(features, labels, sparse_gradients=True)
        self.of_pairs = nn.Parameter(torch.zeros(3 * pairs))

    def set_scores(self, unary: Tensor, members: Tensor, states: Tensor) -> Tensor:
        """The score of every supported set, rows x sets."""
        return unary @ members.T + torch.sparse.mm(states, self.of_pairs[:, None])[:, 0]


def distinct_sets(labels: sp.csr_matrix) -> tuple[sp.csr_matrix, np.ndarray]:
    """The distinct label sets, and the index of each row's set."""
    number: dict[bytes, int] = {}
    labels = labels.sorted_indices()
    keys = [labels.indices[a:b].tobytes() for a, b in zip(labels.indptr[:-1], labels.indptr[1:], strict=True)]
    set_of_row = np.array([number.setdefault(key, len(number)) for key in keys], dtype=np.int64)
    _, first = np.unique(set_of_row, return_index=True)
    return labels[first], set_of_row


def pairs_beyond_chance(labels: sp.csr_matrix, most: int) -> np.ndarray:
    """Pairs of columns that co-occur more often than by chance, sorted by their gain in likelihood."""
    cooccurrence = sp.triu(labels.T @ labels, k=1).tocoo()
    counts = np.bincount(labels.indices, minlength=labels.shape[1])
    expected = counts[cooccurrence.row] * counts[cooccurrence.col] / max(1, labels.shape[0])
    gain = np.where(cooccurrence.data >= _FEWEST_TOGETHER, cooccurrence.data * np.log(cooccurrence.data / expected), 0)
    best = np.argsort(-gain, kind="stable")[:most]
    best = best[gain[best] > 0]
    return np.stack([cooccurrence.row[best], cooccurrence.col[best]], axis=1).astype(np.int32)


def pair_states(sets: sp.csr_matrix, pairs: np.ndarray) -> sp.csr_matrix:
    """Of each set and pair (a, b) the state as one of three columns: only a, only b, both; none for neither."""
    first = sets[:, pairs[:, 0]] if len(pairs) else sp.csr_matrix((sets.shape[0], 0))
    second = sets[:, pairs[:, 1]] if len(pairs) else sp.csr_matrix((sets.shape[0], 0))
    both = first.multiply(second)
    return sp.hstack([first - both, second - both, both], format="csr")
