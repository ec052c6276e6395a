"""The marginal ranking loss of a linear last layer, with its gradient, in one pass over blocks of labels.

The positive scores of a row are a few inner products, so its lowest positive is known before any other score. A block
of scores is then compared with it while it is in the cache, which gives the block's part of L_P, its violators
(negatives that come within the margin of the lowest positive) and the highest negative. Only violators have a gradient:
a block with none costs nothing more, a block with few adds rows one by one, a block with many is a matrix product.
L_N touches the positives and one negative a row, so it is added at the end. Nothing of size rows x labels exists, and
nothing is sampled.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numba import njit
from torch import Tensor

from rankae.numerics.threads import across_threads
from rankae.paper.bags import Bags

_BLOCK = 1024  # labels whose scores are in the cache at a time
_MANY = 0.04  # share of violators from which a matrix product is cheaper than adding rows one by one
_FAR = 1e30  # beyond any score, yet finite, as fastmath wants it
_FAST = {"fastmath": True, "error_model": "numpy", "cache": True, "nogil": True}


@njit(**_FAST)
def _score_positives(first, last, starts, columns, z, table, bias, scores):
    for i in range(first, last):
        code = z[i]
        for p in range(starts[i], starts[i + 1]):
            label = table[columns[p]]
            total = bias[columns[p]]
            for c in range(code.shape[0]):
                total += code[c] * label[c]
            scores[p] = total


@njit(**_FAST)
def _compare(first, last, starts, columns, cursors, scores, offset, floor, loss, violators, high, highest):
    """Leave in `scores` by how much each negative is above its row's floor, the lowest positive score less m."""
    width = scores.shape[1]
    for i in range(first, last):
        row = scores[i]
        while cursors[i] < starts[i + 1] and columns[cursors[i]] < offset + width:
            row[columns[cursors[i]] - offset] = -_FAR
            cursors[i] += 1
        best = row[0]
        for n in range(width):
            best = max(best, row[n])
        if best > high[i]:
            high[i] = best
            highest[i] = offset + np.argmax(row)
        low = floor[i]
        total, count = low - low, np.int32(0)
        for n in range(width):
            above = row[n] - low
            row[n] = above
            if above > 0:
                total += above
                count += np.int32(1)
        loss[i] += total
        violators[i] += count


@njit(**_FAST)
def _add_to_codes(first, last, starts, above, table, grad_z):
    """d L_P / d z_i: the sum of the violators' label vectors."""
    for i in range(first, last):
        out = grad_z[i]
        for n in range(above.shape[1]):
            if above[i, n] > 0:
                label = table[n]
                for c in range(out.shape[0]):
                    out[c] += label[c]


@njit(**_FAST)
def _add_to_labels(first, last, starts, above, z, grad_table, grad_bias):
    """d L_P / d table_n: the sum of the codes of the rows that label n violates. Threads own labels."""
    for i in range(above.shape[0]):
        code = z[i]
        for n in range(first, last):
            if above[i, n] > 0:
                grad_bias[n] += 1
                out = grad_table[n]
                for c in range(out.shape[0]):
                    out[c] += code[c]


@njit(**_FAST)
def _add_scaled(amount, i, label, z, table, grad_z, grad_table, grad_bias):
    scale = z.dtype.type(amount)
    grad_bias[label] += scale
    for c in range(z.shape[1]):
        grad_z[i, c] += scale * table[label, c]
        grad_table[label, c] += scale * z[i, c]


@njit(**_FAST)
def _finish(
    starts, columns, scores, margin, share, violators, high, highest, loss,
    z, table, grad_z, grad_table, grad_bias,
):  # fmt: skip
    """Add L_N, and L_P's pull on the lowest positive."""
    for i in range(len(starts) - 1):
        first, last = starts[i], starts[i + 1]
        if first == last:
            continue
        lowest = first + np.argmin(scores[first:last])
        against = 0
        for p in range(first, last):
            pull = float(violators[i] * (p == lowest))
            short = margin + high[i] - scores[p]
            if short > 0:
                loss[i] += short
                against += 1
                pull += 1
            if pull > 0:
                _add_scaled(-pull * share, i, columns[p], z, table, grad_z, grad_table, grad_bias)
        if against:
            _add_scaled(against * share, i, highest[i], z, table, grad_z, grad_table, grad_bias)


class _FusedRanking(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, z: Tensor, table: Tensor, bias: Tensor, positives: Bags, margin: float) -> Tensor:
        loss, grads = _loss_and_gradients(z, table, bias, positives, margin)
        ctx.save_for_backward(*grads)
        return loss

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        scaled = ctx.saved_tensors if grad == 1 else [saved * grad for saved in ctx.saved_tensors]
        return *scaled, None, None


def _loss_and_gradients(
    z: Tensor, table: Tensor, bias: Tensor, positives: Bags, margin: float
) -> tuple[Tensor, list[Tensor]]:
    """The loss averaged over rows, and its gradients for z, table and bias."""
    B, L, share = len(z), len(table), 1 / max(1, len(z))
    starts, columns = positives.row_starts.numpy(), positives.columns.numpy()
    parameters = [t.numpy() for t in (z, table, bias)]
    scores = np.empty(len(columns), dtype=parameters[0].dtype)
    across_threads(_score_positives, starts, columns, *parameters, scores)

    floor = _lowest(scores, starts) - z.numpy().dtype.type(margin)
    loss, violators = np.zeros(B), np.zeros(B, dtype=np.int64)
    high, highest = np.full(B, -_FAR, dtype=scores.dtype), np.zeros(B, dtype=np.int64)
    cursors = starts[:-1].copy()
    grads = [torch.zeros_like(z), torch.empty_like(table), torch.zeros_like(bias)]
    scratch = z.new_empty(B * min(L, _BLOCK))
    seen = 0
    for offset in range(0, L, _BLOCK):
        labels = slice(offset, min(L, offset + _BLOCK))
        block = scratch[: B * (labels.stop - offset)].view(B, -1)
        torch.addmm(bias[labels], z, table[labels].T, out=block)
        across_threads(_compare, starts, columns, cursors, block.numpy(), offset, floor, loss, violators, high, highest)
        found, seen = violators.sum() - seen, violators.sum()
        _add_violators(block, found, z, table[labels], grads[0], grads[1][labels], grads[2][labels])
        grads[1][labels].mul_(share)
    grads[0].mul_(share)
    grads[2].mul_(share)
    outcome = (violators, high, highest, loss)
    _finish(starts, columns, scores, margin, share, *outcome, *parameters[:2], *(g.numpy() for g in grads))
    return z.new_tensor(loss.sum() * share), grads


def _lowest(scores: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Each row's lowest positive score; out of reach for rows without positives."""
    out = np.full(len(starts) - 1, _FAR, dtype=scores.dtype)
    filled = np.flatnonzero(np.diff(starts))
    if len(filled):
        out[filled] = np.minimum.reduceat(scores, starts[filled])
    return out


def _add_violators(
    above: Tensor, found: int, z: Tensor, table: Tensor, grad_z: Tensor, grad_table: Tensor, grad_bias: Tensor
) -> None:
    if found > _MANY * above.numel():
        violates = above.gt_(0)
        grad_z.addmm_(violates, table)
        torch.mm(violates.T, z, out=grad_table)
        grad_bias += violates.sum(0)
        return
    grad_table.zero_()
    if found:
        rows, labels = np.arange(len(z) + 1), np.arange(len(table) + 1)
        across_threads(_add_to_codes, rows, above.numpy(), table.numpy(), grad_z.numpy())
        across_threads(_add_to_labels, labels, above.numpy(), z.numpy(), grad_table.numpy(), grad_bias.numpy())


def fused_ranking_loss(z: Tensor, table: Tensor, bias: Tensor, positives: Bags, margin: float = 1.0) -> Tensor:
    """`ranking_loss` of the scores z @ table.T + bias, on the CPU.

    Parameters
    ----------
    z : [rows, h], what the last layer reads.
    table, bias : [L, h] and [L], the last layer.
    positives : the labels of each row, ascending.
    margin : as for `ranking_loss`.
    """
    return _FusedRanking.apply(z.contiguous(), table.contiguous(), bias, positives, margin)
