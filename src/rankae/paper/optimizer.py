"""Adam for tables with sparse gradients: rows without a gradient are not updated and cost nothing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn

from rankae.paper.kernels import numba_adam

_DECAY_EVERY = 16  # steps, since decaying all rows in every step would take longer than the step itself


class RowAdam(torch.optim.Optimizer):
    """Adam whose state of a row changes only when that row has a gradient.

    Gradients must be sparse tensors, as `take_rows` produces. Every row counts its own steps for Adam's bias
    correction. Weight decay is decoupled, and is applied to rows that have a gradient.

    flat : one second moment for the whole table, the mean square of all gradients, in place of one per number:
        step = m / sqrt(mean of g^2). Rows with small or few gradients then move little. The decay applies to all rows
        alike, as a ridge does, so that words of few rows stay small.
    """

    def __init__(
        self,
        parameters: Iterable[nn.Parameter] | Iterable[dict[str, Any]],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        flat: bool = False,
    ) -> None:
        super().__init__(parameters, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "flat": flat})

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
            if group["flat"]:
                state["step"] = torch.zeros(1, dtype=torch.int64)
                state["square"], state["decay"] = torch.zeros(1), torch.zeros(1)
            else:
                state["square"] = torch.zeros_like(table)
        rows, values = grad.indices()[0], grad.values()
        beta1, beta2 = group["betas"]
        if group["flat"]:
            state["step"] += 1
            state["square"].mul_(beta2).add_((1 - beta2) * _mean_square(values))
            deviation = float(state["square"] / (1 - beta2 ** int(state["step"]))) ** 0.5
            rate = group["lr"] / (deviation + group["eps"])
            update_flat(table, state["mean"], state["steps"], rows, values, rate, beta1)
            state["decay"] += group["lr"] * group["weight_decay"]
            if int(state["step"]) % _DECAY_EVERY == 0:
                table.mul_(float(1 - state["decay"]))
                state["decay"].zero_()
            return
        numbers = (group["lr"], beta1, beta2, group["eps"], group["weight_decay"])
        update = numba_adam.update_rows if table.device.type == "cpu" else update_rows
        table, mean, square, values = (_by_row(t) for t in (table, state["mean"], state["square"], values))
        update(table, mean, square, state["steps"], rows, values, *numbers)


def _mean_square(values: Tensor) -> float:
    """By rows, then in double precision on one thread: the same number whatever the number of threads."""
    rows = values.square().reshape(len(values), -1).sum(1).cpu().double().numpy()
    return float(rows.sum()) / max(1, values.numel())


def _by_row(table: Tensor) -> Tensor:
    """A vector, such as biases, as a table with one column."""
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


def update_flat(
    table: Tensor, mean: Tensor, steps: Tensor, rows: Tensor, grad: Tensor, rate: float, beta1: float
) -> None:
    """A step along the mean gradient of table[rows], each row with its own count of steps; on any device."""
    steps[rows] += 1
    weight = (1 - beta1) / (1 - beta1 ** steps[rows].to(grad.dtype))  # lerp of corrected means: m += w (g - m)
    weight = weight.reshape(-1, *[1] * (grad.ndim - 1))
    m = mean[rows]
    m += weight * (grad - m)
    mean[rows] = m
    table[rows] -= rate * m
