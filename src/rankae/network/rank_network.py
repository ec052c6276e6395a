"""The network of the paper: three maps that share one code space of size h.

F: features -> x_h        E: labels -> y_h        D: code -> scores y'

training     L_h(F(x), E(y)) + lambda * L_ae(y, D(E(y)))
prediction   D(F(x))
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, Self, TypeAlias

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn

from rankae.network.architecture import Architecture
from rankae.network.bags import Bags
from rankae.network.bilstm import DocumentEmbedding, Documents
from rankae.network.feature_embedding import FeatureEmbedding
from rankae.network.label_decoder import LabelDecoder
from rankae.network.label_encoder import LabelEncoder
from rankae.network.top_k import top_k

Rows: TypeAlias = sp.csr_matrix | Sequence[np.ndarray]
Batch: TypeAlias = Bags | Documents


class RankNetwork(nn.Module):
    """F, E and D, and what a model does with them once they are trained.

    history : one dict of figures for each epoch of training.
    """

    _gates: Tensor | None
    _folded: tuple[np.ndarray, np.ndarray] | None

    def __init__(self, shape: Architecture) -> None:
        super().__init__()
        self.shape = shape
        self.F = DocumentEmbedding(shape) if shape.word_encoder == "bilstm" else FeatureEmbedding(shape)
        self.E = LabelEncoder(shape.labels, shape.code_size, shape.activation)
        self.D = LabelDecoder(shape.code_size, shape.labels, shape.activation)
        self.history: list[dict[str, Any]] = []
        self._forget_constants()

    @property
    def device(self) -> torch.device:
        return self.D.label_bias.device

    def forward(self, batch: Batch) -> Tensor:
        """y' = D(F(x)), all labels of each row."""
        y = self.D(self.F(batch))
        return torch.sigmoid(y) if self.shape.scores == "sigmoid" else y

    # Prediction, numpy in and out -----------------------------------------------------------------------------

    @torch.no_grad()
    def codes(self, rows: Rows, batch: int = 1024) -> np.ndarray:
        """x_h = F(x) of every row, float32 [rows, h]."""
        out = np.empty((count_rows(rows), self.shape.code_size), dtype=np.float32)
        for part in _blocks(len(out), batch):
            out[part] = self._codes(rows[part]).cpu().numpy()
        return out

    @torch.no_grad()
    def scores(self, rows: Rows, batch: int = 1024) -> Iterator[np.ndarray]:
        """Scores of all labels, one block of rows after the other."""
        for part in _blocks(count_rows(rows), batch):
            y = self.D(self._codes(rows[part]))
            yield (torch.sigmoid(y) if self.shape.scores == "sigmoid" else y).cpu().numpy()

    @torch.no_grad()
    def top(self, rows: Rows, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The k best labels of every row, best first: int32 columns and float32 scores."""
        codes = self.codes(rows)
        if self.shape.activation == "linear":
            columns, scores = top_k(codes, *self.folded_decoder(), k)
        else:
            hidden = self.D.hidden(torch.from_numpy(codes).to(self.device))
            columns, scores = top_k(_array(hidden), _array(self.D.label_vectors), _array(self.D.label_bias), k)
        if self.shape.scores == "sigmoid":
            scores = 1 / (1 + np.exp(-scores))
        return columns, scores

    def folded_decoder(self) -> tuple[np.ndarray, np.ndarray]:
        """A linear D as one table [L, h] and one bias [L]: score = table @ code + bias."""
        if self._folded is None or self.training:
            table, bias = self.D.folded()
            self._folded = _array(table), _array(bias)
        return self._folded

    # The model file ------------------------------------------------------------------------------------------

    def arrays(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Parameters by name, and the settings that `from_arrays` needs besides them."""
        return {name: value.cpu().numpy() for name, value in self.state_dict().items()}, asdict(self.shape)

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray], settings: dict[str, Any]) -> Self:
        """The network that `arrays` came from. They are used in place, so a network from mapped files cannot be trained
        before it is copied."""
        with torch.device("meta"):
            network = cls(Architecture(**settings))
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The given NumPy array is not writable")
            values = {name: torch.from_numpy(np.asarray(value)) for name, value in arrays.items()}
        network.load_state_dict(values, assign=True)
        return network.eval()

    # Tables that stay the same until training goes on ----------------------------------------------------------

    def train(self, mode: bool = True) -> Self:
        self._forget_constants()
        return super().train(mode)

    def _forget_constants(self) -> None:
        self._gates = self._folded = None

    def _codes(self, rows: Rows) -> Tensor:
        if not isinstance(self.F, FeatureEmbedding):
            return self.F(Documents.from_sequences(rows).to(self.device))  # type: ignore[arg-type]
        if self.training:
            return self.F(Bags.from_csr(rows).to(self.device))
        table, attention, bags = self.F.word_vectors, self.F.attention, Bags.by_row_only(rows).to(self.device)
        signs = 2 if bags.has_negative_weights else 1
        if self._gates is None or len(self._gates) < signs:
            self._gates = attention.gates(table, both_signs=signs == 2)
        if self._gates is None:  # there is no channel attention, or it runs on another device
            return self.F.FC(attention(table, bags))
        return self.F.FC(attention.pool_with(self._gates, table, bags))


def _array(tensor: Tensor) -> np.ndarray:
    return tensor.detach().cpu().numpy()


def count_rows(rows: Rows) -> int:
    return rows.shape[0] if sp.issparse(rows) else len(rows)  # type: ignore[union-attr]


def _blocks(n: int, size: int) -> Iterator[slice]:
    for start in range(0, n, size):
        yield slice(start, min(n, start + size))
