"""Dual attention (section 2.4): words weighted by their features, channels re-scaled by a learned gate, then pooled."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from rankae.network.bags import Bags
from rankae.network.kernels import dual_attention, fused, weighted_sum


class DualAttention(nn.Module):
    """x' = pool(M), M = V' * A.

    Spatial attention has no parameters: V' = v e, a word's vector times its weight (tf-idf) in the row.
    Channel attention is A = sigmoid(F2 relu(F1 V')), with F1 [C / r, C] and F2 [C, C / r], both without bias.
    """

    def __init__(self, word_size: int, reduction: int, pooling: str, attention: bool) -> None:
        super().__init__()
        squeezed = max(1, word_size // reduction)
        self.F1 = nn.Parameter(torch.empty(squeezed, word_size)) if attention else None
        self.F2 = nn.Parameter(torch.empty(word_size, squeezed)) if attention else None
        self.pooling = pooling

    def forward(self, vectors: Tensor, bags: Bags) -> Tensor:
        """Pool a batch, given the vectors of its distinct words."""
        if self.F1 is None or self.F2 is None:
            return self._scaled(weighted_sum(vectors, bags), bags)
        return self._scaled(dual_attention(vectors, self.F1, self.F2, bags), bags)

    def gates(self, table: Tensor, both_signs: bool) -> Tensor | None:
        """What the gate needs of each word of the vocabulary, for a network that no longer changes."""
        if self.F1 is None or self.F2 is None or table.device.type != "cpu":
            return None
        return fused.word_gates(table, self.F1, self.F2, both_signs)

    def pool_with(self, gates: Tensor, table: Tensor, bags: Bags) -> Tensor:
        """As `forward`, from gates that were computed before."""
        return self._scaled(fused.gated_sum(table, gates, bags), bags)

    def attend(self, V: Tensor) -> Tensor:
        """M = V' * A for tokens that some other encoder has read, [..., C]."""
        if self.F1 is None or self.F2 is None:
            return V
        return V * torch.sigmoid(torch.relu(V @ self.F1.T) @ self.F2.T)

    def _scaled(self, total: Tensor, bags: Bags) -> Tensor:
        if self.pooling == "sum":
            return total
        return total / bags.row_lengths.clamp(min=1)[:, None]
