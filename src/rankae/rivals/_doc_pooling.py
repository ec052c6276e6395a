"""Pooling a document's positions into a fixed number of equal parts of its own length.

Parts follow each row's own length, not the padded width of its batch: a document's scores must not depend on the other
documents of the batch.
"""

from __future__ import annotations

import torch
from torch import Tensor


def parts_of(lengths: Tensor, width: int, parts: int) -> Tensor:
    """The part (0 to parts - 1) of every position, rows x width; `parts` itself marks what lies beyond the length."""
    position = torch.arange(width, device=lengths.device)[None]
    lengths = lengths[:, None].clamp(min=1)
    part = torch.div(position * parts, lengths, rounding_mode="floor")
    return torch.where(position < lengths, part, parts)


def max_pool(values: Tensor, part: Tensor, parts: int) -> Tensor:
    """Maximum over each part of non-negative values (rows x channels x width) -> rows x channels x parts."""
    pooled = [torch.where((part == i)[:, None], values, 0).amax(dim=2) for i in range(parts)]
    return torch.stack(pooled, dim=2)


def mean_pool(values: Tensor, part: Tensor, parts: int) -> Tensor:
    """Mean over each part (rows x width x channels) -> rows x parts x channels; a part without positions is 0."""
    inside = torch.nn.functional.one_hot(part, parts + 1)[..., :parts].to(values.dtype)
    share = inside / inside.sum(dim=1, keepdim=True).clamp(min=1)
    return share.transpose(1, 2) @ values
