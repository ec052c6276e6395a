"""The shortlist of labels that a training step computes, if computing all labels takes too long.

The ranking loss has a gradient only for violators: negatives that come near a row's positives. After the first epochs
they are few, and mostly the same from batch to batch. A step therefore computes the labels of its batch, those that
violated most when they were last computed, and some random ones, by which new violators are found.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

_REMEMBERED = 0.9  # decay of a label's violations each time it is computed
_AT_RANDOM = 0.5  # share of random negatives


class Shortlist:
    """Chooses the labels of each step.

    strength : [L], decayed number of violations of each label.
    violators : the labels of the last step with the largest strength, strongest first.
    """

    def __init__(self, labels: int, size: int, seed: int) -> None:
        self.size, self.seed = size, seed
        self.strength = torch.zeros(labels)
        self.violators = torch.empty(0, dtype=torch.int64)
        self.drawn_from = np.arange(labels)

    def draw_from(self, labels: np.ndarray) -> None:
        """Draw negatives from these labels only; labels without rows need no gradient."""
        self.drawn_from = labels

    def choose(self, batch_labels: Tensor, step: int) -> Tensor:
        """All labels of a batch, filled up with negatives to at most `size` labels; ascending."""
        if self.size >= len(self.strength):
            return torch.arange(len(self.strength), device=batch_labels.device)
        room = max(0, self.size - len(batch_labels))
        violators = self.violators[: int((1 - _AT_RANDOM) * room)]
        random = np.random.default_rng([self.seed, step]).integers(len(self.drawn_from), size=room - len(violators))
        drawn = torch.from_numpy(self.drawn_from[random])
        return torch.unique(torch.cat([batch_labels.cpu(), violators, drawn])).to(batch_labels.device)

    def learn(self, labels: Tensor, violations: Tensor) -> None:
        """Update the strength of the computed labels; `violations` is the gradient of their biases, which counts
        rows."""
        labels, violations = labels.cpu(), violations.cpu()
        strength = _REMEMBERED * self.strength[labels] + violations.clamp(min=0)
        self.strength[labels] = strength
        strongest = torch.topk(strength, min(self.size, len(strength)))
        self.violators = labels[strongest.indices[strongest.values > 0]]
