"""Which labels a training step looks at, where looking at all of them takes too long.

The ranking loss has a gradient only for violators: negatives that come near a row's positives. They are few once
training has begun, and mostly the same from batch to batch. So a step looks at the labels of its batch, at those that
violated most when they were last looked at, and at some drawn at random, which is how new violators are found.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

_REMEMBERED = 0.9  # of a label's violations, from one look at it to the next
_AT_RANDOM = 0.5  # share of the negatives


class Shortlist:
    """Labels for each step.

    strength : [L], how often each label violated, of late.
    violators : the strongest labels of the last step, strongest first.
    """

    def __init__(self, labels: int, size: int, seed: int) -> None:
        self.size, self.seed = size, seed
        self.strength = torch.zeros(labels)
        self.violators = torch.empty(0, dtype=torch.int64)
        self.drawn_from = np.arange(labels)

    def draw_from(self, labels: np.ndarray) -> None:
        """Draw negatives from these labels only: a label that no row has is never in the way of one."""
        self.drawn_from = labels

    def choose(self, own: Tensor, step: int) -> Tensor:
        """The labels of a batch, whatever their number, and negatives to make it at most `size`; ascending."""
        if self.size >= len(self.strength):
            return torch.arange(len(self.strength), device=own.device)
        room = max(0, self.size - len(own))
        violators = self.violators[: int((1 - _AT_RANDOM) * room)]
        random = np.random.default_rng([self.seed, step]).integers(len(self.drawn_from), size=room - len(violators))
        drawn = torch.from_numpy(self.drawn_from[random])
        return torch.unique(torch.cat([own.cpu(), violators, drawn])).to(own.device)

    def learn(self, looked_at: Tensor, violations: Tensor) -> None:
        """Note how often each label violated, by the gradient of its bias: it counts rows (below 0 for positives)."""
        looked_at, violations = looked_at.cpu(), violations.cpu()
        strength = _REMEMBERED * self.strength[looked_at] + violations.clamp(min=0)
        self.strength[looked_at] = strength
        strongest = torch.topk(strength, min(self.size, len(strength)))
        self.violators = looked_at[strongest.indices[strongest.values > 0]]
