"""The base class of CBM and CRF: linear maps of sparse rows, trained by Adam, that predict whole label sets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn

from rankae.base.parameters import Count, Device, NotNegative, Positive, Seed
from rankae.base.ranker import LabelRanker, Rows
from rankae.data.unit_length import unit_rows
from rankae.paper.optimizer import RowAdam
from rankae.progress import bar
from rankae.rivals._network_training import pick_device, shuffled_batches
from rankae.rivals._ranked import Ranked, rank_in_blocks
from rankae.rivals._sparse_linear import SparseLinear

ROWS_AT_ONCE = 512
_WARM_UP = 0.1  # share of the steps in which the learning rate rises


@dataclass(kw_only=True, eq=False, repr=False)
class SetRanker(LabelRanker):
    """A model of label sets: it ranks labels by their marginal probabilities, and predicts the most probable set.

    A method implements `_marginals` and `_sets` for a block of rows, and trains its module with `_train`.

    Parameters
    ----------
    learning_rate, epochs, batch_size : of Adam. decay : of the weights, per step and learning rate (L2).
    label_limit : most labels accepted.
    device : "auto", "cpu", "cuda", ...
    random_state : seed.
    """

    learning_rate: Positive = 0.1
    decay: NotNegative = 0.003
    epochs: Count = 10
    batch_size: Count = 128
    label_limit: Count = 1000
    device: Annotated[str, Device(auto=True)] = "auto"
    random_state: Seed = 0

    def _marginals(self, rows: sp.csr_matrix) -> np.ndarray:
        """Probability of every label, rows x labels."""
        raise NotImplementedError

    def _sets(self, rows: sp.csr_matrix) -> list[np.ndarray]:
        """The columns of the most probable set of each row."""
        raise NotImplementedError

    def predict_sets(self, X: Any) -> list[list[Any]]:
        """The most probable label set of each row, which maximises subset accuracy."""
        self._check_fitted()
        return [self.classes_[columns].tolist() for columns in self._sets_in_blocks(self._rows(X))]

    def predict(self, X: Any) -> Any:
        """As `predict_sets`, in the form of the labels given to `fit`; empty sets are replaced by the best label."""
        self._check_fitted()
        if self.kind_ == "single" or self.cuts_ is not None:
            return super().predict(X)
        rows = self._rows(X)
        sets = self._sets_in_blocks(rows)
        if empty := [i for i, columns in enumerate(sets) if not len(columns)]:
            assert not isinstance(rows, list)
            for i, best in zip(empty, self._answer(rows[empty], 1)[0], strict=True):
                sets[i] = best.astype(np.int64)
        if self.kind_ == "lists":
            return [self.classes_[columns].tolist() for columns in sets]
        ends = np.cumsum([0, *map(len, sets)])
        columns = np.concatenate([*sets, np.empty(0, dtype=np.int64)]).astype(np.int64)
        return sp.csr_matrix((np.ones(len(columns), np.int64), columns, ends), shape=(len(sets), len(self.classes_)))

    @torch.inference_mode()
    def _sets_in_blocks(self, rows: Rows) -> list[np.ndarray]:
        assert not isinstance(rows, list)
        unit = unit_rows(rows)
        blocks = (unit[start : start + ROWS_AT_ONCE] for start in range(0, unit.shape[0], ROWS_AT_ONCE))
        return [columns for block in blocks for columns in self._sets(block)]

    @torch.inference_mode()
    def _top(self, rows: sp.csr_matrix, k: int) -> Ranked:
        unit = unit_rows(rows)
        labels = len(self.classes_)
        return rank_in_blocks(lambda block: self._marginals(unit[block]), unit.shape[0], labels, k, ROWS_AT_ONCE)

    def _train(
        self, module: nn.Module, rows: int, loss_of: Callable[[np.ndarray, float], Tensor], random: np.random.Generator
    ) -> None:
        """Adam over batches; `loss_of` gets the rows of a batch and the share of the training that is done."""
        device = pick_device(self.device)
        module.to(device)
        tables = [part.table for part in module.modules() if isinstance(part, SparseLinear)]
        dense = [p for p in module.parameters() if all(p is not table for table in tables)]
        optimizers: list[torch.optim.Optimizer] = [
            RowAdam(tables, lr=self.learning_rate, weight_decay=self.decay),
            torch.optim.Adam(dense, lr=self.learning_rate),
        ]
        steps, step = self.epochs * -(-rows // self.batch_size), 0
        with bar(f"{self.method}: epochs", self.epochs) as progress:
            for _ in range(self.epochs):
                total = 0.0
                for batch in shuffled_batches(np.arange(rows), self.batch_size, random):
                    factor = min(1.0, (step + 1) / (_WARM_UP * steps), (steps - step) / ((1 - _WARM_UP) * steps))
                    for optimizer in optimizers:
                        optimizer.param_groups[0]["lr"] = self.learning_rate * factor
                        optimizer.zero_grad()
                    loss = loss_of(batch, step / steps)
                    loss.backward()
                    for optimizer in optimizers:
                        optimizer.step()
                    total += loss.item() * len(batch)
                    step += 1
                progress.advance(loss=total / max(1, rows))
        module.eval()
