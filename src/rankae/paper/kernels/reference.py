"""The paper's equations in plain torch, token by token, for any device and as the reference of the compiled kernels."""

from __future__ import annotations

import torch
from torch import Tensor

from rankae.paper.bags import Bags


def dual_attention(vectors: Tensor, F1: Tensor, F2: Tensor, bags: Bags) -> Tensor:
    """Spatial attention V' = v e, channel attention A = sigmoid(F2 relu(F1 V')), and the sum of M = V' * A."""
    V = _spatial_attention(vectors, bags)
    A = torch.sigmoid(torch.relu(V @ F1.T) @ F2.T)
    return _sum_by_row(V * A, bags)


def weighted_sum(vectors: Tensor, bags: Bags) -> Tensor:
    """The sum of V' = v e: F without channel attention ("No attn"), and the label bag that E reads."""
    return _sum_by_row(_spatial_attention(vectors, bags), bags)


def _spatial_attention(vectors: Tensor, bags: Bags) -> Tensor:
    return vectors.index_select(0, bags.words) * bags.weights.to(vectors.dtype)[:, None]


def _sum_by_row(tokens: Tensor, bags: Bags) -> Tensor:
    return tokens.new_zeros(len(bags), tokens.shape[1]).index_add(0, bags.token_rows, tokens)
