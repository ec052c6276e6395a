"""F: features -> x_h, the feature embedding."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from rankae.paper.architecture import Architecture
from rankae.paper.attention import DualAttention
from rankae.paper.bags import Bags
from rankae.paper.kernels import take_rows


class DroppedReLU(nn.ReLU):
    """ReLU units of which a training step does not see half."""

    def forward(self, input: Tensor) -> Tensor:
        return torch.dropout(super().forward(input), 0.5, self.training)


class FeatureEmbedding(nn.Module):
    """x_h = FC(x'), where x' = pool(V' * A) are the row's words after dual attention.

    `word_vectors` is the embedding layer E of section 2.4: one row e_j for each word.
    """

    def __init__(self, shape: Architecture) -> None:
        super().__init__()
        C, h = shape.word_size, shape.code_size
        self.word_vectors = nn.Parameter(torch.empty(shape.words, C))
        self.attention = DualAttention(C, shape.reduction, shape.pooling, shape.attention)
        self.FC: nn.Module = nn.Linear(C, h)
        if shape.hidden:
            self.FC = nn.Sequential(nn.Linear(C, shape.hidden), DroppedReLU(), nn.Linear(shape.hidden, h))

    def forward(self, bags: Bags) -> Tensor:
        return self.after_pooling(self.attention(take_rows(self.word_vectors, bags.distinct), bags), bags)

    def after_pooling(self, pooled: Tensor, bags: Bags) -> Tensor:
        """x_h, when attention has pooled the rows of `bags`."""
        return self.FC(pooled)
