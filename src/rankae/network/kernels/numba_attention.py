"""Gather, attend and pool in one loop, on the CPU.

The gate of a token is sigmoid(F2 relu(F1 v e)). F1 and F2 have no bias and relu(|v| u) = |v| relu(u), so it is
sigmoid(|v| g) with g = F2 relu(F1 e), or g = F2 relu(-F1 e) where v < 0: two vectors that belong to the word, not
to the token. A token then costs one sigmoid a channel and nothing is stored for it; the backward pass computes the
sigmoid again. Training goes word by word, so that a word's vectors are read once; prediction, which has tables of the
whole vocabulary and no order by word, goes row by row.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numba import njit
from torch import Tensor

from rankae.network.bags import Bags
from rankae.network.kernels.sigmoid import sigmoid
from rankae.network.kernels.threads import across_threads

# Without the numpy error model, a check for division by zero keeps the loops scalar.
_FAST = {"fastmath": True, "error_model": "numpy", "cache": True, "nogil": True}


@njit(**_FAST)
def _attend(first, last, row_starts, words, weights, vectors, gates, pooled):
    for i in range(first, last):
        out = pooled[i]
        out[:] = 0
        for token in range(row_starts[i], row_starts[i + 1]):
            v, word = weights[token], words[token]
            size = abs(v)
            e, g = vectors[word], gates[np.int64(v < 0), word]
            for c in range(out.shape[0]):
                out[c] += v * e[c] * sigmoid(size * g[c])


@njit(**_FAST)
def _attend_by_word(first, last, row_starts, word_starts, rows, weights, vectors, gates, pooled):
    """As `_attend`, from tokens in the order of words: e and g stay in the cache while a word is used.

    A thread passes over the tokens of other threads' rows, which costs little beside a token of its own.
    """
    pooled[first:last] = 0
    for word in range(len(word_starts) - 1):
        e = vectors[word]
        for token in range(word_starts[word], word_starts[word + 1]):
            if rows[token] < first or rows[token] >= last:
                continue
            v, out = weights[token], pooled[rows[token]]
            size, g = abs(v), gates[np.int64(v < 0), word]
            for c in range(out.shape[0]):
                out[c] += v * e[c] * sigmoid(size * g[c])


@njit(**_FAST)
def _attend_backward(first, last, word_starts, rows, weights, vectors, gates, grad, grad_vectors, grad_gates):
    for word in range(first, last):
        e, grad_e = vectors[word], grad_vectors[word]
        grad_e[:] = 0
        grad_gates[:, word] = 0
        for token in range(word_starts[word], word_starts[word + 1]):
            v, grad_row = weights[token], grad[rows[token]]
            size, sign = abs(v), np.int64(v < 0)
            g, grad_g = gates[sign, word], grad_gates[sign, word]
            for c in range(grad_row.shape[0]):
                a = sigmoid(size * g[c])
                gated = v * a * grad_row[c]
                grad_e[c] += gated
                grad_g[c] += size * (gated - gated * a)
        for either in range(grad_gates.shape[0]):  # e is the same for all tokens of the word
            grad_g = grad_gates[either, word]
            for c in range(grad_g.shape[0]):
                grad_g[c] *= e[c]


@njit(**_FAST)
def _pool(first, last, row_starts, words, weights, vectors, pooled):
    for i in range(first, last):
        out = pooled[i]
        out[:] = 0
        for token in range(row_starts[i], row_starts[i + 1]):
            v, e = weights[token], vectors[words[token]]
            for c in range(out.shape[0]):
                out[c] += v * e[c]


def _run(kernel: Any, *tensors: Tensor) -> None:
    across_threads(kernel, *(t.detach().numpy() for t in tensors))


def _signed_squeeze(vectors: Tensor, F1: Tensor, both_signs: bool) -> Tensor:
    """relu(F1 e) and, if there are negative weights, relu(-F1 e): [1 or 2, C / r, words].

    Words come last: products with so few rows are quicker than products with so few columns.
    """
    squeezed = F1 @ vectors.T
    return torch.relu_(torch.stack([squeezed, -squeezed]) if both_signs else squeezed[None])


def word_gates(vectors: Tensor, F1: Tensor, F2: Tensor, both_signs: bool) -> Tensor:
    """g of each word for positive and, if asked, for negative weights: [1 or 2, words, C]."""
    return _signed_squeeze(vectors, F1, both_signs).mT @ F2.T


def gated_sum(vectors: Tensor, gates: Tensor, bags: Bags) -> Tensor:
    """Each row's sum of v e * sigmoid(|v| g), from gates at hand: what a network does once it no longer changes."""
    pooled = vectors.new_empty(len(bags), vectors.shape[1])
    _run(_attend, bags.row_starts, bags.words, bags.weights.to(vectors.dtype), vectors, gates, pooled)
    return pooled


class _DualAttention(torch.autograd.Function):
    """The gates are part of it, so that their gradient is added to that of the vectors in place."""

    @staticmethod
    def forward(ctx: Any, vectors: Tensor, F1: Tensor, F2: Tensor, bags: Bags) -> Tensor:
        squeezed = _signed_squeeze(vectors, F1, bags.has_negative_weights)
        gates = squeezed.mT @ F2.T
        ctx.save_for_backward(vectors, F1, F2, squeezed, gates)
        ctx.bags = bags
        pooled = vectors.new_empty(len(bags), vectors.shape[1])
        tokens = (bags.row_starts, bags.word_starts, bags.word_rows, bags.word_weights.to(vectors.dtype))
        _run(_attend_by_word, *tokens, vectors, gates, pooled)
        return pooled

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        bags, (vectors, F1, F2, squeezed, gates) = ctx.bags, ctx.saved_tensors
        grad_vectors, grad_gates = torch.empty_like(vectors), torch.empty_like(gates)
        tokens = (bags.word_starts, bags.word_rows, bags.word_weights.to(grad.dtype))
        _run(_attend_backward, *tokens, vectors, gates, grad.contiguous(), grad_vectors, grad_gates)
        grad_squeezed = torch.bmm(F2.T.expand(len(squeezed), -1, -1), grad_gates.mT).mul_(squeezed.sign())
        grad_F2 = torch.bmm(squeezed, grad_gates).sum(0).T
        if len(squeezed) == 2:
            grad_squeezed[0] -= grad_squeezed[1]
        grad_vectors.addmm_(grad_squeezed[0].T, F1)
        return grad_vectors, grad_squeezed[0] @ vectors, grad_F2, None


class _WeightedSum(torch.autograd.Function):
    """sum over a row's tokens of v e: the bag that E reads, and F without channel attention."""

    @staticmethod
    def forward(ctx: Any, vectors: Tensor, bags: Bags) -> Tensor:
        ctx.bags = bags
        pooled = vectors.new_empty(len(bags), vectors.shape[1])
        _run(_pool, bags.row_starts, bags.words, bags.weights.to(vectors.dtype), vectors, pooled)
        return pooled

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        # The same sum with the roles of rows and words exchanged.
        bags = ctx.bags
        grad_vectors = grad.new_empty(len(bags.distinct), grad.shape[1])
        weights = bags.word_weights.to(grad.dtype)
        _run(_pool, bags.word_starts, bags.word_rows, weights, grad.contiguous(), grad_vectors)
        return grad_vectors, None


def dual_attention(vectors: Tensor, F1: Tensor, F2: Tensor, bags: Bags) -> Tensor:
    return _DualAttention.apply(vectors.contiguous(), F1, F2, bags)


def weighted_sum(vectors: Tensor, bags: Bags) -> Tensor:
    return _WeightedSum.apply(vectors.contiguous(), bags)
