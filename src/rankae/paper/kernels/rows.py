"""Row lookup in a large table with a sparse gradient."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


class _TakeRows(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, table: Tensor, rows: Tensor) -> Tensor:
        ctx.save_for_backward(rows)
        ctx.shape = table.shape
        return table.index_select(0, rows)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:  # type: ignore[override]
        (rows,) = ctx.saved_tensors
        return torch.sparse_coo_tensor(rows[None], grad, ctx.shape, is_coalesced=True, check_invariants=False), None


def take_rows(table: Tensor, rows: Tensor) -> Tensor:
    """table[rows] for ascending, distinct rows; the gradient is a sparse tensor of these rows."""
    return _TakeRows.apply(table, rows)
