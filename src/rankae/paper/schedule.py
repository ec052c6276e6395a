"""The learning rate over the course of training."""

from __future__ import annotations

import math

LENGTHS = (4, 8, 16)  # numbers of epochs to choose from


def learning_rate_factor(step: int, steps: int, warmup: float) -> float:
    """Linear warm-up over the first `warmup` share of the steps, then a half cosine down to 0."""
    rise = warmup * steps
    if step < rise:
        return (step + 1) / (rise + 1)
    return 0.5 * (1 + math.cos(math.pi * (step - rise) / max(1.0, steps - rise)))
