"""F for raw documents: the states of a bidirectional LSTM over the words replace V' = v e."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

from rankae.paper.architecture import Architecture
from rankae.paper.attention import DualAttention


@dataclass(frozen=True)
class Documents:
    """A batch of token sequences, padded with 0 on the right."""

    tokens: Tensor  # int64 [rows, longest]
    lengths: Tensor  # int64 [rows]

    @classmethod
    def from_sequences(cls, sequences: Sequence[np.ndarray]) -> Documents:
        tokens = [torch.as_tensor(np.ascontiguousarray(sequence, dtype=np.int64)) for sequence in sequences]
        padded = pad_sequence(tokens, batch_first=True)
        lengths = torch.tensor([len(t) for t in tokens])
        # An LSTM needs at least one column, if only of padding.
        return cls(padded if padded.shape[1] else padded.new_zeros(len(tokens), 1), lengths)

    def __len__(self) -> int:
        return len(self.lengths)

    def to(self, device: torch.device | str) -> Documents:
        return Documents(self.tokens.to(device), self.lengths)  # pack_padded_sequence needs lengths on the CPU


class DocumentEmbedding(nn.Module):
    """x_h = FC(pool(H * A)): H are the BiLSTM's states (C / 2 in each direction), A their channel attention."""

    def __init__(self, shape: Architecture) -> None:
        super().__init__()
        C = shape.word_size
        self.word_vectors = nn.Parameter(torch.empty(shape.words, C))
        self.lstm = nn.LSTM(C, C // 2, batch_first=True, bidirectional=True)
        self.attention = DualAttention(2 * (C // 2), shape.reduction, shape.pooling, shape.attention)
        self.FC = nn.Linear(2 * (C // 2), shape.code_size)
        self.pooling = shape.pooling

    def forward(self, documents: Documents) -> Tensor:
        lengths = documents.lengths.clamp(min=1)
        vectors = nn.functional.embedding(documents.tokens, self.word_vectors)
        packed = pack_padded_sequence(vectors, lengths, batch_first=True, enforce_sorted=False)
        states, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
        real = torch.arange(states.shape[1]) < documents.lengths[:, None]  # an empty row consists of padding
        M = self.attention.attend(states) * real.to(states)[:, :, None]
        total = M.sum(1)
        return self.FC(total if self.pooling == "sum" else total / lengths.to(total)[:, None])
