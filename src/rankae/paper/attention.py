"""Dual attention (section 2.4): words weighted by their features, channels re-scaled by a learned gate, then pooled."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from rankae.paper.bags import Bags
from rankae.paper.kernels import dual_attention, fused, weighted_sum


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

    def gates(self, table: Tensor) -> WordGates | None:
        """The gates of all words for prediction; None without channel attention, or on other devices than the CPU."""
        if self.F1 is None or self.F2 is None or table.device.type != "cpu":
            return None
        return WordGates(table.detach(), self.F1.detach(), self.F2.detach())

    def pool_with(self, gates: WordGates, table: Tensor, bags: Bags) -> Tensor:
        """As `forward`, from precomputed gates; `bags` has the numbers of its words in the whole `table`."""
        return self._scaled(fused.gated_sum(table, gates.covering(bags), bags), bags)

    def attend(self, V: Tensor) -> Tensor:
        """M = V' * A for tokens V' of any word encoder, [..., C]."""
        if self.F1 is None or self.F2 is None:
            return V
        return V * torch.sigmoid(torch.relu(V @ self.F1.T) @ self.F2.T)

    def _scaled(self, total: Tensor, bags: Bags) -> Tensor:
        if self.pooling == "sum":
            return total
        return total / bags.row_lengths.clamp(min=1)[:, None]


class WordGates:
    """The gates of words (see `fused.word_gates`), computed when a word first occurs, so that loading a model is
    fast."""

    def __init__(self, table: Tensor, F1: Tensor, F2: Tensor) -> None:
        self._table, self._F1, self._F2 = table, F1, F2
        self._reserve(1)

    def covering(self, bags: Bags) -> Tensor:
        """Gates by sign, word and channel; those of the words in these bags are filled in."""
        signs = 2 if bags.has_negative_weights else 1
        if len(self._gates) < signs:
            self._reserve(signs)
        words = bags.words.long()
        fresh = words[~self._known[words]]
        if len(fresh):
            fresh = fresh.unique()
            self._gates[:, fresh] = fused.word_gates(self._table[fresh], self._F1, self._F2, len(self._gates) == 2)
            self._known[fresh] = True
        return self._gates

    def _reserve(self, signs: int) -> None:
        self._gates = self._table.new_empty(signs, *self._table.shape)  # pages are only allocated when written to
        self._known = torch.zeros(len(self._table), dtype=torch.bool)
