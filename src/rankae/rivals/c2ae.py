"""C2AE (Yeh et al., 2017): features and labels are mapped to one code, from which the labels are decoded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
import scipy.sparse as sp
import torch
from sklearn.utils import check_random_state
from torch import Tensor, nn

from rankae.base.parameters import Count, Device, NotNegative, Positive, RandomState, Share
from rankae.base.ranker import LabelRanker
from rankae.base.search_space import Between, OneOf, Space
from rankae.rivals._c2ae_loss import code_loss, pair_loss
from rankae.rivals._network_training import (
    hold_out,
    ndcg,
    pick_device,
    seeded,
    shuffled_batches,
    train_network,
    weights_from_arrays,
    weights_to_arrays,
)
from rankae.rivals._ranked import Ranked, rank_in_blocks
from rankae.rivals._sparse_linear import SparseLinear

JUDGED_PLACES = 5
CODE_SHARE = 0.8  # the code has so many dimensions for each label ...
CODE_LIMIT = 500  # ... but no more than this


class C2AENetwork(nn.Module):
    """F: features -> code, E: labels -> code, D: code -> a score in [0, 1] for each label."""

    def __init__(self, n_features: int, n_labels: int, hidden: int, code: int, dropout: float) -> None:
        super().__init__()
        self.n_labels = n_labels
        self.F = nn.Sequential(
            _xavier(n_features, hidden),
            nn.LeakyReLU(),
            nn.Dropout(dropout),
            nn.Linear(hidden, hidden),
            nn.LeakyReLU(),
            nn.Linear(hidden, code),
        )
        self.E = nn.Sequential(_xavier(n_labels, hidden), nn.LeakyReLU(), nn.Linear(hidden, code))
        self.D = nn.Sequential(nn.Linear(code, hidden), nn.LeakyReLU(), nn.Linear(hidden, n_labels), nn.Sigmoid())


def _xavier(inputs: int, outputs: int) -> SparseLinear:
    layer = SparseLinear(inputs, outputs)
    nn.init.xavier_uniform_(layer.table)
    return layer


@dataclass(kw_only=True, eq=False, repr=False)
class C2AE(LabelRanker):
    """Canonically correlated autoencoder.

    Parameters
    ----------
    hidden : units of the hidden layers.
    code : dimensions of the code; None takes 0.8 for each label, at most 500.
    alpha : weight of the pair loss against the loss of the codes.
    sharpness : how steeply a pair in the wrong order costs.
    dropout : share of F's first hidden units dropped in training.
    learning_rate, epochs, batch_size : of Adam.
    patience : stop after so many epochs without a gain on held-out rows (a tenth); the best epoch is kept.
    device : "auto", "cpu", "cuda", ...
    random_state : seed.
    """

    method = "c2ae"
    search_space: ClassVar[Space] = {
        "alpha": Between(0.1, 10.0, log=True),
        "learning_rate": Between(1e-4, 1e-2, log=True),
        "hidden": OneOf((256, 512)),
    }

    hidden: Count = 512
    code: Count | None = None
    alpha: NotNegative = 2.0
    sharpness: Positive = 5.0
    dropout: Share = 0.5
    learning_rate: Positive = 1e-3
    epochs: Count = 50
    batch_size: Count = 128
    patience: Count = 5
    device: Annotated[str, Device(auto=True)] = "auto"
    random_state: RandomState = None

    def _build(self, n_features: int, n_labels: int) -> C2AENetwork:
        code = self.code or max(1, min(CODE_LIMIT, int(CODE_SHARE * n_labels)))
        return C2AENetwork(n_features, n_labels, self.hidden, code, self.dropout)

    def _fit(self, rows: sp.csr_matrix, labels: sp.csr_matrix) -> None:
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        random = np.random.default_rng(seed)
        device = pick_device(self.device)
        train, held = hold_out(rows.shape[0], random)
        judged = min(JUDGED_PLACES, labels.shape[1])

        def loss_of(batch: np.ndarray) -> Tensor:
            truth = labels[batch]
            from_features, from_labels = self.network_.F(rows[batch]), self.network_.E(truth)
            targets = torch.from_numpy(truth.toarray()).to(device)
            pairs = pair_loss(self.network_.D(from_labels), targets, self.sharpness)
            return code_loss(from_features, from_labels) + self.alpha * pairs

        with seeded(seed):
            self.network_ = self._build(rows.shape[1], labels.shape[1]).to(device)
            self.best_epoch_ = train_network(
                self.network_,
                torch.optim.Adam(self.network_.parameters(), lr=self.learning_rate, fused=True),
                lambda: shuffled_batches(train, self.batch_size, random),
                loss_of,
                (lambda: ndcg(self._top(rows[held], judged)[0], labels[held])) if len(held) else None,
                epochs=self.epochs,
                patience=self.patience,
                description="c2ae: epochs",
            )

    @torch.inference_mode()
    def _top(self, rows: sp.csr_matrix, k: int) -> Ranked:
        network = self.network_.eval()
        # The logit ranks as the sigmoid does, but does not round far-off labels to the same number.
        decode = network.D[:-1]

        def score(block: slice) -> np.ndarray:
            return decode(network.F(rows[block])).cpu().numpy()

        return rank_in_blocks(score, rows.shape[0], network.n_labels, k)

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        return {"labels": len(self.classes_), "best_epoch": self.best_epoch_}, weights_to_arrays(self.network_)

    def _restore(self, settings: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        self.best_epoch_ = settings["best_epoch"]
        self.network_ = self._build(self.n_features_in_, len(self.classes_))
        weights_from_arrays(self.network_, arrays)
        self.network_.to(pick_device(self.device))
