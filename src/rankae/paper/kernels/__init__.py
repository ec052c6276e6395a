"""Kernels of the network: compiled loops on the CPU, plain torch for other devices and number types."""

from __future__ import annotations

from types import ModuleType

import torch
from torch import Tensor

from rankae.paper.bags import Bags
from rankae.paper.kernels import numba_attention as fused
from rankae.paper.kernels import reference
from rankae.paper.kernels.rows import take_rows

__all__ = ["dual_attention", "fused", "reference", "take_rows", "weighted_sum"]


def dual_attention(vectors: Tensor, F1: Tensor, F2: Tensor, bags: Bags) -> Tensor:
    """Each row's sum of V' * A, where V' = v e and A = sigmoid(F2 relu(F1 V')).

    Parameters
    ----------
    vectors : [distinct words, C], the vector e of each distinct word of the batch.
    F1, F2 : [C / r, C] and [C, C / r].
    bags : the batch.
    """
    return _kernels_for(vectors).dual_attention(vectors, F1, F2, bags)


def weighted_sum(vectors: Tensor, bags: Bags) -> Tensor:
    """Each row's sum of v e."""
    return _kernels_for(vectors).weighted_sum(vectors, bags)


def _kernels_for(vectors: Tensor) -> ModuleType:
    compiled = vectors.device.type == "cpu" and vectors.dtype in (torch.float32, torch.float64)
    return fused if compiled else reference
