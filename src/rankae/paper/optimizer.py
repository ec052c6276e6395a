"""Adam for tables of which a batch touches a few rows: the other rows cost nothing and do not move."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn

from rankae.paper.kernels import numba_adam


class RowAdam(torch.optim.Optimizer):
    """Adam whose state for a row changes only when that row has a gradient.

    Gradients must be sparse tensors, as `take_rows` gives them. Every row counts its own steps, so that a rare word's
    first step is as long as a frequent word's was. Weight decay is decoupled, and falls on rows when they are touched.
    """

    def __init__(
        self,
        parameters: Iterable[nn.Parameter],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
    ) -> None:
        super().__init__(parameters, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        for group in self.param_groups:
            for table in group["params"]:
                if table.grad is not None:
                    self._update(table, table.grad.coalesce(), group)

    def _update(self, table: Tensor, grad: Tensor, group: dict[str, Any]) -> None:
        state = self.state[table]
        if not state:
            state["steps"] = torch.zeros(len(table), dtype=torch.int32, device=table.device)
            state["mean"] = torch.zeros_like(table)
            state["square"] = torch.zeros_like(table)
        rows, values = grad.indices()[0], grad.values()
        numbers = (group["lr"], *group["betas"], group["eps"], group["weight_decay"])
        update = numba_adam.update_rows if table.device.type == "cpu" else update_rows
        table, mean, square, values = (_by_row(t) for t in (table, state["mean"], state["square"], values))
        update(table, mean, square, state["steps"], rows, values, *numbers)


def _by_row(table: Tensor) -> Tensor:
    """Single numbers, such as biases, as rows of one."""
    return table[:, None] if table.ndim == 1 else table


def update_rows(
    table: Tensor, mean: Tensor, square: Tensor, steps: Tensor, rows: Tensor, grad: Tensor,
    lr: float, beta1: float, beta2: float, eps: float, decay: float,
) -> None:  # fmt: skip
    """A step of Adam for table[rows] on any device; `numba_adam` does the same on the CPU in one pass."""
    steps[rows] += 1
    t = steps[rows].to(grad.dtype)[:, None]
    mean[rows] = m = beta1 * mean[rows] + (1 - beta1) * grad
    square[rows] = s = beta2 * square[rows] + (1 - beta2) * grad.square()
    step = (m / (1 - beta1**t)) / ((s / (1 - beta2**t)).sqrt() + eps)
    table[rows] = table[rows] * (1 - lr * decay) - lr * step
