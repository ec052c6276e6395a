"""L_h: the distance between the two codes of a row, one from its words and one from its labels."""

from __future__ import annotations

from torch import Tensor


def common_embedding_loss(x_h: Tensor, y_h: Tensor) -> Tensor:
    """L_h = ||x_h - y_h||^2, averaged over rows and summed over the h dimensions of a code."""
    return (x_h - y_h).square().sum(1).mean()
