"""D: codes -> scores of all labels, the label decoder."""

from __future__ import annotations

from abc import abstractmethod

import torch
from torch import Tensor, nn
from torch.nn import functional

from rankae.paper.label_encoder import LabelEncoder


class Decoder(nn.Module):
    """Two fully connected layers: y' = FC2(act(FC1 y_h)).

    FC2 is kept as a table of one row a label, because losses and predictions read it in blocks of labels.
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
        """act(FC1 y_h): what the rows of `label_vectors` are multiplied with."""
        return self.act(functional.linear(codes, *self.first_layer()))

    def forward(self, codes: Tensor) -> Tensor:
        return functional.linear(self.hidden(codes), self.label_vectors, self.label_bias)

    def folded(self) -> tuple[Tensor, Tensor]:
        """Both layers as one table [L, h] and one bias [L], if there is no activation between them."""
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
    """D as one layer: y' = T y_h + d, which is all that two linear layers in a row can say."""

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
    """D with E's weights turned round: with E(y) = W2 act(T' y + b), D(y_h) = T act(W2' y_h + c) + d.

    L_h shrinks the directions of the code that F cannot predict. A D of its own amplifies them again, because L_ae is
    measured on E's codes, where nothing is missing; and with them it amplifies F's errors. A tied D shrinks with E.
    """

    def __init__(self, encoder: LabelEncoder, labels: int, activation: str) -> None:
        super().__init__(labels, activation)
        self.bias = nn.Parameter(torch.zeros(encoder.FC2.in_features))
        self._encoder = (encoder,)  # in a tuple, so that E's parameters are counted and saved once

    @property
    def label_vectors(self) -> nn.Parameter:  # type: ignore[override]
        return self._encoder[0].label_vectors

    def first_layer(self) -> tuple[Tensor, Tensor]:
        return self._encoder[0].FC2.weight.T, self.bias
