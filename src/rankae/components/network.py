"""Networks of older files, read and not trained any more: dual attention over words, a wide ReLU code, D.

    x_h = relu(pool(V' * A) + b)        y' = D x_h

It is what the closed-form start cannot be: not linear. Half of the code and a share of the words are hidden from every
step, because without that a random start overfits small data. Several networks average their scores; their codes side
by side are one longer code, so an average costs no more machinery than a single network.
"""

from __future__ import annotations

import copy
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn

from rankae.components.predictions import CodePredictions
from rankae.numerics.table import Table
from rankae.paper.attention import DualAttention, WordGates
from rankae.paper.bags import Bags
from rankae.paper.kernels import take_rows

Figures = dict[str, Any]


@dataclass(frozen=True)
class WordsNetworkSettings:
    """word_size is the number of channels and of the code; see `JointSettings` for the rest.

    reduction : r of the gate; more than the paper's 4, for there are more channels and the gate costs C^2 / r a word.
    loss : "smooth" is the smooth ranking loss; "bce" binary cross entropy.
    """

    word_size: int = 500
    reduction: int = 16
    attention: bool = True
    loss: str = "smooth"
    dropout: float = 0.5
    word_dropout: float = 0.3
    learning_rate: float = 3e-3
    epochs: int = 15
    batch: int = 256
    warmup: float = 0.1
    device: str = "cpu"


class WordsNetwork(nn.Module):
    """One member: F up to the ReLU code, and D."""

    def __init__(self, words: int, labels: int, settings: WordsNetworkSettings) -> None:
        super().__init__()
        C = settings.word_size
        self.word_vectors = nn.Parameter(torch.empty(words, C))
        self.attention = DualAttention(C, settings.reduction, "sum", settings.attention)
        self.bias = nn.Parameter(torch.zeros(C))
        self.label_vectors = nn.Parameter(torch.empty(labels, C))
        self.label_bias = nn.Parameter(torch.zeros(labels))
        # A gate starts near 1/2, so a gated sum is doubled to start where an ungated one does.
        self.scale = 2.0 if settings.attention else 1.0
        self.dropout = settings.dropout

    def codes(self, bags: Bags) -> Tensor:
        """x_h = relu(pool(V' * A) + b)."""
        return self._activated(self.attention(take_rows(self.word_vectors, bags.distinct), bags))

    def forward(self, bags: Bags) -> Tensor:
        return self.scores(self.attention(take_rows(self.word_vectors, bags.distinct), bags))

    def scores(self, pooled: Tensor) -> Tensor:
        """y' = D x_h, from what attention has pooled."""
        hidden = torch.dropout(self._activated(pooled), self.dropout, self.training)
        return nn.functional.linear(hidden, self.label_vectors, self.label_bias)

    def _activated(self, pooled: Tensor) -> Tensor:
        return torch.relu(self.scale * pooled + self.bias)


class NetworkComponent:
    """Networks that answer as one; `history` has the figures of each epoch of each member.

    precision : of the tables in the model file; in memory they are float32.
    """

    name = "network"

    def __init__(self, members: list[WordsNetwork], settings: WordsNetworkSettings, precision: str = "float32") -> None:
        self.members, self.settings, self.precision = members, settings, precision
        self.history: list[Figures] = []
        self._join()

    def _join(self) -> None:
        """One label table for all members: each speaks with an equal share."""
        share = 1 / len(self.members)
        with torch.no_grad():
            self.table = (torch.cat([m.label_vectors for m in self.members], dim=1) * share).cpu().numpy()
            self.bias = (torch.stack([m.label_bias for m in self.members]).sum(0) * share).cpu().numpy()
        self._gates = [m.attention.gates(m.word_vectors) for m in self.members]

    @torch.no_grad()
    def predict(self, rows: sp.csr_matrix) -> CodePredictions:
        codes = [self._codes(m, g, rows) for m, g in zip(self.members, self._gates, strict=True)]
        return CodePredictions(np.concatenate(codes, axis=1), self.table, self.bias)

    def _codes(self, member: WordsNetwork, gates: WordGates | None, rows: sp.csr_matrix) -> np.ndarray:
        if gates is None:
            return member.codes(Bags.from_csr(rows).to(self.settings.device)).cpu().numpy()
        pooled = member.attention.pool_with(gates, member.word_vectors, Bags.by_row_only(rows))
        return torch.relu(member.scale * pooled + member.bias).numpy()

    def state(self) -> tuple[dict[str, Any], dict[str, Any]]:
        arrays: dict[str, Any] = {
            f"{i}.{name}": value.cpu().numpy()
            for i, member in enumerate(self.members)
            for name, value in member.state_dict().items()
        }
        settings: dict[str, Any] = {"settings": asdict(self.settings), "members": len(self.members)}
        if self.precision != "float32":
            settings["precision"] = self.precision
            arrays |= {n: Table.at(self.precision, v) for n, v in arrays.items() if n.endswith("_vectors")}
        return settings, arrays

    def shrunk(self, precision: str) -> NetworkComponent:
        """Networks whose tables hold what a file of this precision can."""
        small = copy.copy(self)
        small.precision = precision
        settings, arrays = small.state()
        return NetworkComponent.from_state(settings, arrays)

    @classmethod
    def from_state(cls, settings: dict[str, Any], arrays: dict[str, np.ndarray], device: str = "cpu") -> Self:
        own = WordsNetworkSettings(**settings["settings"] | {"device": device})
        members = []
        for i in range(settings["members"]):
            values = {n.removeprefix(f"{i}."): v for n, v in arrays.items() if n.startswith(f"{i}.")}
            with torch.device("meta"):
                member = WordsNetwork(len(values["word_vectors"]), len(values["label_bias"]), own)
            member.load_state_dict({n: torch.from_numpy(np.asarray(v)) for n, v in values.items()}, assign=True)
            members.append(member.to(device).eval())
        return cls(members, own, settings.get("precision", "float32"))
