"""D: codes -> scores of all labels, the label decoder."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional


class LabelDecoder(nn.Module):
    """Two fully connected layers: y' = FC2(act(FC1 y_h)).

    FC2 is kept as a table of one row a label, because losses and predictions read it in blocks of labels.
    """

    def __init__(self, code_size: int, labels: int, activation: str) -> None:
        super().__init__()
        self.FC1 = nn.Linear(code_size, code_size)
        self.act = nn.ReLU() if activation == "relu" else nn.Identity()
        self.label_vectors = nn.Parameter(torch.empty(labels, code_size))
        self.label_bias = nn.Parameter(torch.zeros(labels))

    def hidden(self, codes: Tensor) -> Tensor:
        """act(FC1 y_h): what the rows of `label_vectors` are multiplied with."""
        return self.act(self.FC1(codes))

    def forward(self, codes: Tensor) -> Tensor:
        return functional.linear(self.hidden(codes), self.label_vectors, self.label_bias)

    def folded(self) -> tuple[Tensor, Tensor]:
        """Both layers as one table [L, h] and one bias [L], if there is no activation between them."""
        if not isinstance(self.act, nn.Identity):
            raise TypeError("only a decoder with linear activation folds into one table")
        with torch.no_grad():
            table = self.label_vectors @ self.FC1.weight
            return table, self.label_vectors @ self.FC1.bias + self.label_bias
