"""Binary cross entropy in place of the ranking loss (BCE-AE, "No loss" in the paper's ablation)."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional


def bce_loss(logits: Tensor, y: Tensor) -> Tensor:
    """-sum over labels of y log(sigmoid(y')) + (1 - y) log(1 - sigmoid(y')), averaged over rows.

    Parameters
    ----------
    logits : rows x labels, before any sigmoid.
    y : rows x labels, 0 or 1.
    """
    return functional.binary_cross_entropy_with_logits(logits, y, reduction="sum") / max(1, len(logits))
