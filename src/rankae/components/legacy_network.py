"""Networks of models saved by version 0.1, which are still loaded but no longer trained: dual attention, a ReLU code,
D.

    x_h = relu(pool(V' * A) + b)        y' = D x_h

Several networks average their scores. Their codes are concatenated into one longer code, and so are their label tables.
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


@dataclass(frozen=True)
class WordsNetworkSettings:
    """The settings that the file holds; word_size is the number of channels and the size of the code."""

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
        self.scale = 2.0 if settings.attention else 1.0  # gates start at 1/2

    def codes(self, bags: Bags) -> Tensor:
        """x_h = relu(pool(V' * A) + b)."""
        return self.activated(self.attention(take_rows(self.word_vectors, bags.distinct), bags))

    def activated(self, pooled: Tensor) -> Tensor:
        return torch.relu(self.scale * pooled + self.bias)


class NetworkComponent:
    """Several networks as one component.

    precision : of the tables in the model file; in memory they are float32.
    """

    name = "network"

    def __init__(self, members: list[WordsNetwork], settings: WordsNetworkSettings, precision: str = "float32") -> None:
        self.members, self.settings, self.precision = members, settings, precision
        share = 1 / len(members)
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
        return member.activated(member.attention.pool_with(gates, member.word_vectors, Bags.by_row_only(rows))).numpy()

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
        """The networks with their tables rounded to this precision."""
        small = copy.copy(self)
        small.precision = precision
        settings, arrays = small.state()
        return NetworkComponent.from_state(settings, arrays)

    @classmethod
    def from_state(cls, settings: dict[str, Any], arrays: dict[str, np.ndarray]) -> Self:
        network_settings = WordsNetworkSettings(**settings["settings"] | {"device": "cpu"})
        members = []
        for i in range(settings["members"]):
            values = {n.removeprefix(f"{i}."): v for n, v in arrays.items() if n.startswith(f"{i}.")}
            with torch.device("meta"):
                member = WordsNetwork(len(values["word_vectors"]), len(values["label_bias"]), network_settings)
            member.load_state_dict({n: torch.from_numpy(np.asarray(v)) for n, v in values.items()}, assign=True)
            members.append(member.eval())
        return cls(members, network_settings, settings.get("precision", "float32"))
