"""F with two paths: a linear one, solved in closed form and fixed, and dual attention with ReLU units.

    z   = sum of v w                         w, the solved vector of each word; the gate is exactly 1
    x_h = z + U relu(W z + b) + T relu(2 pool(V' * A) + c)

U and T start at 0 and the gates at A = 1/2, so the network starts as the closed form. z has overfitted the rows that it
was solved on, so in training it is replaced by the row's leave-one-out code (see `rankae.paper.closed_form`). Without
that, joint training makes the start worse.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from rankae.paper.architecture import Architecture
from rankae.paper.bags import Bags
from rankae.paper.feature_embedding import FeatureEmbedding
from rankae.paper.kernels import take_rows, weighted_sum


class ReluPathEmbedding(FeatureEmbedding):
    """x_h = T relu(2 pool(V' * A) + c), with a dropout of one half."""

    FC: nn.Linear

    def __init__(self, shape: Architecture) -> None:
        super().__init__(shape)
        self.pooled_bias = nn.Parameter(torch.zeros(shape.word_size))
        self.FC = nn.Linear(shape.word_size, shape.code_size, bias=False)  # T
        # Gates start at 1/2, so that twice the gated sum starts as the ungated one.
        self.scale = 2.0 if shape.attention else 1.0
        self.dropout = 0.5

    def after_pooling(self, pooled: Tensor, bags: Bags) -> Tensor:
        return self.FC(self._dropped(torch.relu(self.scale * pooled + self.pooled_bias)))

    def _dropped(self, units: Tensor) -> Tensor:
        return torch.dropout(units, self.dropout, self.training)


class TwoPathEmbedding(ReluPathEmbedding):
    """`solved_words` [V, h] is the word table of the linear path, `word_vectors` [V, C] that of dual attention."""

    def __init__(self, shape: Architecture) -> None:
        super().__init__(shape)
        h, units = shape.code_size, shape.residual
        self.solved_words = nn.Parameter(torch.empty(shape.words, h), requires_grad=False)
        self.squeeze = nn.Linear(h, units)  # W and b
        self.expand = nn.Linear(units, h, bias=False)  # U

    def forward(self, bags: Bags) -> Tensor:
        pooled = self.attention(take_rows(self.word_vectors, bags.distinct), bags)
        z = weighted_sum(self.solved_words.index_select(0, bags.distinct), bags) if bags.codes is None else bags.codes
        return self._joined(z, pooled, bags)

    def after_pooling(self, pooled: Tensor, bags: Bags) -> Tensor:
        if bags.codes is None and not len(self.solved_words):
            raise ValueError("the linear path has no words here, so rows must come with their codes")
        z = weighted_sum(self.solved_words, bags) if bags.codes is None else bags.codes
        return self._joined(z, pooled, bags)

    def without_words(self) -> None:
        """Drop the word table of the linear path; rows must then come with their codes."""
        self.solved_words = nn.Parameter(self.solved_words.new_empty(0, self.solved_words.shape[1]), False)

    def _joined(self, z: Tensor, pooled: Tensor, bags: Bags) -> Tensor:
        hidden = self._dropped(torch.relu(self.squeeze(z)))
        return z + self.expand(hidden) + super().after_pooling(pooled, bags)
