"""E: labels -> y_h, the label encoder."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from rankae.paper.bags import Bags
from rankae.paper.kernels import take_rows, weighted_sum


class LabelEncoder(nn.Module):
    """Two fully connected layers on the 0/1 label vector: y_h = FC2(act(FC1 y)).

    FC1 y is the sum of the table rows of the positive labels, so the 0/1 matrix is never built.
    """

    def __init__(self, labels: int, code_size: int, activation: str, merged: bool = False) -> None:
        super().__init__()
        self.label_vectors = nn.Parameter(torch.empty(labels, code_size))
        self.bias = nn.Parameter(torch.zeros(code_size))
        self.act = nn.ReLU() if activation == "relu" else nn.Identity()
        self.FC2: nn.Linear = nn.Identity() if merged else nn.Linear(code_size, code_size)  # type: ignore[assignment]

    def forward(self, positives: Bags) -> Tensor:
        rows = take_rows(self.label_vectors, positives.distinct)
        return self.FC2(self.act(weighted_sum(rows, positives) + self.bias))
