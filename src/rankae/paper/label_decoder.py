"""D: codes -> scores of all labels, the label decoder."""

from __future__ import annotations

from abc import abstractmethod

import torch
from torch import Tensor, nn
from torch.nn import functional

from rankae.paper.label_encoder import LabelEncoder


class Decoder(nn.Module):
    """Two fully connected layers: y' = FC2(act(FC1 y_h)).

    FC2 is stored as a table with a row for each label, because losses and predictions read it in blocks of labels.
    """

    label_vectors: nn.Parameter  # FC2 [L, h]
    label_bias: nn.Parameter

    def __init__(self, labels: int, activation: str) -> None:
        super().__init__()
        self.act = nn.ReLU() if activation == "relu" else nn.Identity()
        self.label_bias = nn.Parameter(torch.zeros(labels))

    @abstractmethod
    def first_layer(self) -> tuple[Tensor, Tensor]:
        """Weight and bias of FC1."""

    def hidden(self, codes: Tensor) -> Tensor:
        """act(FC1 y_h), the input of FC2."""
        return self.act(functional.linear(codes, *self.first_layer()))

    def forward(self, codes: Tensor) -> Tensor:
        return functional.linear(self.hidden(codes), self.label_vectors, self.label_bias)

    def folded(self) -> tuple[Tensor, Tensor]:
        """Both layers folded into one table [L, h] and one bias [L]; for linear activation only."""
        if not isinstance(self.act, nn.Identity):
            raise TypeError("only a decoder with linear activation folds into one table")
        with torch.no_grad():
            weight, bias = self.first_layer()
            return self.label_vectors @ weight, self.label_vectors @ bias + self.label_bias


class LabelDecoder(Decoder):
    """D with weights of its own, as in the paper."""

    def __init__(self, code_size: int, labels: int, activation: str) -> None:
        super().__init__(labels, activation)
        self.FC1 = nn.Linear(code_size, code_size)
        self.label_vectors = nn.Parameter(torch.empty(labels, code_size))

    def first_layer(self) -> tuple[Tensor, Tensor]:
        return self.FC1.weight, self.FC1.bias


class MergedDecoder(Decoder):
    """D as one layer, y' = T y_h + d, to which two consecutive linear layers are equivalent."""

    def __init__(self, code_size: int, labels: int) -> None:
        super().__init__(labels, "linear")
        self.label_vectors = nn.Parameter(torch.empty(labels, code_size))

    def first_layer(self) -> tuple[Tensor, Tensor]:
        h = self.label_vectors.shape[1]
        return torch.eye(h, device=self.label_bias.device), torch.zeros(h, device=self.label_bias.device)

    def hidden(self, codes: Tensor) -> Tensor:
        return codes

    def folded(self) -> tuple[Tensor, Tensor]:
        return self.label_vectors, self.label_bias


class TiedDecoder(Decoder):
    """D with E's transposed weights: with E(y) = W2 act(T' y + b), D(y_h) = T act(W2' y_h + c) + d.

    L_h shrinks the directions of E's codes that F cannot predict. An untied D amplifies them again, because L_ae is
    measured on E's codes, and thereby amplifies F's errors. A tied D shrinks together with E.
    """

    def __init__(self, encoder: LabelEncoder, labels: int, activation: str) -> None:
        super().__init__(labels, activation)
        self._encoder = (encoder,)  # in a tuple, so that E's parameters are registered and saved only once
        self.bias = nn.Parameter(torch.zeros(encoder.label_vectors.shape[1]))

    @property
    def label_vectors(self) -> nn.Parameter:  # type: ignore[override]
        return self._encoder[0].label_vectors

    def first_layer(self) -> tuple[Tensor, Tensor]:
        FC2 = self._encoder[0].FC2
        merged = torch.eye(len(self.bias), device=self.bias.device)
        return FC2.weight.T if isinstance(FC2, nn.Linear) else merged, self.bias
