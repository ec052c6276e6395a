"""Gather, attend and pool in one loop, on the CPU.

The gate of a token is sigmoid(F2 relu(F1 v e)). F1 and F2 have no bias and relu(|v| u) = |v| relu(u), so it is
sigmoid(|v| g) with g = F2 relu(F1 e), or g = F2 relu(-F1 e) if v < 0: two vectors that depend on the word, not on the
token. A token then costs one sigmoid per channel, and nothing is stored for it; the backward pass computes the sigmoid
again. Training goes word by word, so that a word's vectors are read once; prediction, which has tables of the whole
vocabulary and no order by word, goes row by row.

In training each task processes a share of the words completely and adds up a sum of its own, so that threads
synchronise once in the forward and once in the backward pass. torch's own threads, which synchronise at every product,
spent most of the time waiting on a machine with other load. The number of shares is fixed: sums are then added in the
same order whatever the number of threads, and the same seed gives the same network.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np
import torch
from numba import njit
from torch import Tensor

from rankae.numerics.threads import across_threads, each_on_one_thread
from rankae.paper.bags import Bags
from rankae.paper.kernels.sigmoid import sigmoid

T = TypeVar("T")

_SHARES = 8  # each costs a sum of rows x channels; all of them 5 % of the time of attention on one thread
_BLOCK, _FEWEST_WORDS = 2**18, 128  # numbers, and least words, of a block, so that its gates stay in the cache
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
def _attend_by_word(first, last, word_starts, rows, weights, vectors, gates, pooled):
    """As `_attend`, from the tokens of some words: e and g stay in the cache while a word is used.

    gates : of these words alone.
    """
    for word in range(first, last):
        e = vectors[word]
        for token in range(word_starts[word], word_starts[word + 1]):
            v, out = weights[token], pooled[rows[token]]
            size, g = abs(v), gates[np.int64(v < 0), word - first]
            for c in range(out.shape[0]):
                out[c] += v * e[c] * sigmoid(size * g[c])


@njit(**_FAST)
def _attend_backward(first, last, word_starts, rows, weights, vectors, gates, grad, grad_vectors, grad_gates):
    """gates, grad_gates : of these words alone."""
    for word in range(first, last):
        e, grad_e = vectors[word], grad_vectors[word]
        grad_e[:] = 0
        grad_gates[:, word - first] = 0
        for token in range(word_starts[word], word_starts[word + 1]):
            v, grad_row = weights[token], grad[rows[token]]
            size, sign = abs(v), np.int64(v < 0)
            g, grad_g = gates[sign, word - first], grad_gates[sign, word - first]
            for c in range(grad_row.shape[0]):
                a = sigmoid(size * g[c])
                gated = v * a * grad_row[c]
                grad_e[c] += gated
                grad_g[c] += size * (gated - gated * a)
        for either in range(grad_gates.shape[0]):  # e is the same for all tokens of the word
            grad_g = grad_gates[either, word - first]
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
    """g of each word for positive and, with `both_signs`, for negative weights: [1 or 2, words, C]."""
    return _signed_squeeze(vectors, F1, both_signs).mT @ F2.T


def gated_sum(vectors: Tensor, gates: Tensor, bags: Bags) -> Tensor:
    """Each row's sum of v e * sigmoid(|v| g), from precomputed gates, for prediction."""
    pooled = vectors.new_empty(len(bags), vectors.shape[1])
    _run(_attend, bags.row_starts, bags.words, bags.weights.to(vectors.dtype), vectors, gates, pooled)
    return pooled


class _Block(NamedTuple):
    """Intermediate results of the words first:last for the backward pass."""

    first: int
    last: int
    squeezed: Tensor  # [1 or 2, C / r, words]
    gates: Tensor  # [1 or 2, words, C]


def _shares(bags: Bags, squeezed: int) -> list[range]:
    """The words of each task, balanced by work; a word's products take as long as the sigmoids of squeezed / 6
    tokens."""
    words = len(bags.distinct)
    parts = max(1, min(words, _SHARES))
    work = bags.word_starts.numpy() + np.arange(words + 1) * (squeezed / 6)
    cuts = np.searchsorted(work, work[-1] * np.arange(1, parts) / parts)
    return [range(a, b) for a, b in pairwise([0, *cuts.tolist(), words])]


def _on_threads(function: Callable[..., T], shares: list[Any]) -> list[T]:
    """function(share) for each share, on a thread each."""
    results: dict[int, T] = {}

    def task(i: int) -> None:
        with torch.no_grad():  # a setting of the thread
            results[i] = function(shares[i])

    each_on_one_thread(task, range(len(shares)))
    return [results[i] for i in range(len(shares))]


def _by_word(bags: Bags, dtype: torch.dtype) -> list[np.ndarray]:
    return [t.numpy() for t in (bags.word_starts, bags.word_rows, bags.word_weights.to(dtype))]


class _DualAttention(torch.autograd.Function):
    """Includes the gates, so that their gradient is added to that of the vectors in place."""

    @staticmethod
    def forward(ctx: Any, vectors: Tensor, F1: Tensor, F2: Tensor, bags: Bags) -> Tensor:
        tokens, both_signs, C = _by_word(bags, vectors.dtype), bags.has_negative_weights, vectors.shape[1]
        e = vectors.detach().numpy()

        def attend(words: range) -> tuple[np.ndarray, list[_Block]]:
            pooled, blocks = np.zeros((len(bags), C), dtype=e.dtype), []
            size = max(_FEWEST_WORDS, _BLOCK // C)
            for first in words[::size]:
                last = min(first + size, words.stop)
                squeezed = _signed_squeeze(vectors[first:last], F1, both_signs)
                blocks.append(_Block(first, last, squeezed, squeezed.mT @ F2.T))
                _attend_by_word(first, last, *tokens, e, blocks[-1].gates.numpy(), pooled)
            return pooled, blocks

        sums, ctx.shares = zip(*_on_threads(attend, _shares(bags, len(F1))), strict=True)
        ctx.save_for_backward(vectors, F1, F2)
        ctx.tokens = tokens
        for other in sums[1:]:
            np.add(sums[0], other, out=sums[0])
        return torch.from_numpy(sums[0])

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        vectors, F1, F2 = ctx.saved_tensors
        grad_vectors = torch.empty_like(vectors)
        e, grad_rows, grad_e = (t.detach().numpy() for t in (vectors, grad.contiguous(), grad_vectors))

        def backward(blocks: list[_Block]) -> tuple[Tensor, Tensor]:
            grad_F1, grad_F2 = torch.zeros_like(F1), torch.zeros_like(F1)
            for first, last, squeezed, gates in blocks:
                grad_gates = torch.empty_like(gates)
                _attend_backward(first, last, *ctx.tokens, e, gates.numpy(), grad_rows, grad_e, grad_gates.numpy())
                grad_squeezed = torch.matmul(F2.T, grad_gates.mT).mul_(squeezed.sign())
                for sign in range(len(squeezed)):
                    grad_F2.addmm_(squeezed[sign], grad_gates[sign])
                if len(squeezed) == 2:
                    grad_squeezed[0] -= grad_squeezed[1]
                grad_F1.addmm_(grad_squeezed[0], vectors[first:last])
                grad_vectors[first:last].addmm_(grad_squeezed[0].T, F1)
            return grad_F1, grad_F2

        grad_F1, grad_F2 = (sum(parts[1:], parts[0]) for parts in zip(*_on_threads(backward, ctx.shares), strict=True))
        return grad_vectors, grad_F1, grad_F2.T, None


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
