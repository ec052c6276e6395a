"""The network of the paper: three maps that share one code space of size h.

F: features -> x_h        E: labels -> y_h        D: code -> scores y'

training     L_h(F(x), E(y)) + lambda * L_ae(y, D(E(y)))
prediction   D(F(x))
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import asdict
from typing import Any, Self, TypeAlias

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn

from rankae.numerics.label_index import ExactIndex, UsearchIndex
from rankae.numerics.table import PRECISIONS, Table, packed, unpacked
from rankae.paper.architecture import Architecture
from rankae.paper.attention import WordGates
from rankae.paper.bags import Bags, CodedRows
from rankae.paper.bilstm import DocumentEmbedding, Documents
from rankae.paper.feature_embedding import FeatureEmbedding
from rankae.paper.label_decoder import Decoder, LabelDecoder, MergedDecoder, TiedDecoder
from rankae.paper.label_encoder import LabelEncoder
from rankae.paper.two_paths import ReluPathEmbedding, TwoPathEmbedding

Rows: TypeAlias = sp.csr_matrix | CodedRows | Sequence[np.ndarray]
Batch: TypeAlias = Bags | Documents

_OF_WORDS = "F.solved_words", "F.word_vectors"


def select_rows(rows: Rows, index: np.ndarray) -> Rows:
    return rows[index] if isinstance(rows, CodedRows) or sp.issparse(rows) else [rows[i] for i in index]  # type: ignore[index,call-overload]


class RankNetwork(nn.Module):
    """F, E and D, with prediction and saving.

    history : one dict of figures for each epoch of training.
    best_epoch : the one that validation rows chose; 0 for the start.
    index : over D's labels, if one was built; further training drops it.
    precision : of the tables in the model file; in memory they are float32.
    """

    _gates: WordGates | None
    _folded: tuple[np.ndarray, np.ndarray] | None
    index: UsearchIndex | None

    def __init__(self, shape: Architecture) -> None:
        super().__init__()
        self.shape = shape
        self.F = _feature_embedding(shape)
        self.E = LabelEncoder(shape.labels, shape.code_size, shape.activation, shape.merged)
        self.D: Decoder
        if shape.tied:
            self.D = TiedDecoder(self.E, shape.labels, shape.activation)
        elif shape.merged:
            self.D = MergedDecoder(shape.code_size, shape.labels)
        else:
            self.D = LabelDecoder(shape.code_size, shape.labels, shape.activation)
        self.history: list[dict[str, Any]] = []
        self.best_epoch = 0
        self.precision = "float32"
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
        """Scores of all labels, in blocks of rows."""
        for part in _blocks(count_rows(rows), batch):
            y = self.D(self._codes(rows[part]))
            yield (torch.sigmoid(y) if self.shape.scores == "sigmoid" else y).cpu().numpy()

    @torch.no_grad()
    def top(self, rows: Rows, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The k best labels of every row, best first: int32 columns and float32 scores."""
        index = self.index or ExactIndex(*self.decoder())
        columns, scores = index.search(self.codes_for_decoder(rows), k)
        if self.shape.scores == "sigmoid":
            scores = 1 / (1 + np.exp(-scores))
        return columns, scores

    def decoder(self) -> tuple[np.ndarray, np.ndarray]:
        """The label table and biases to which `codes_for_decoder` are the input."""
        if self.shape.activation == "linear":
            return self.folded_decoder()
        return _array(self.D.label_vectors), _array(self.D.label_bias)

    def codes_for_decoder(self, rows: Rows) -> np.ndarray:
        return self._as_decoder_reads(self.codes(rows))

    @torch.no_grad()
    def codes_of_labels(self, labels: sp.csr_matrix) -> np.ndarray:
        """E(y) of rows with these labels, as the decoder reads them."""
        return self._as_decoder_reads(_array(self.E(Bags.from_csr(labels).to(self.device))))

    @torch.no_grad()
    def _as_decoder_reads(self, codes: np.ndarray) -> np.ndarray:
        if self.shape.activation == "linear":
            return codes
        return _array(self.D.hidden(torch.from_numpy(codes).to(self.device)))

    def folded_decoder(self) -> tuple[np.ndarray, np.ndarray]:
        """A linear D as one table [L, h] and one bias [L]: score = table @ code + bias."""
        if self._folded is None or self.training:
            table, bias = self.D.folded()
            self._folded = _array(table), _array(bias)
        return self._folded

    # The model file ------------------------------------------------------------------------------------------

    def state(self, without: np.ndarray | None = None) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """JSON values and parameters by name, for `from_state`.

        without : columns of words whose vectors are dropped.
        """
        arrays: dict[str, Any] = {name: value.cpu().numpy() for name, value in self.state_dict().items()}
        settings = asdict(self.shape)
        if without is not None:
            for name in self._word_tables():
                arrays[name] = arrays[name].copy()
                arrays[name][without] = 0
        if self.precision != "float32":
            settings["precision"] = self.precision
            tables = [*self._word_tables(), *(name for name in arrays if name.endswith("label_vectors"))]
            arrays |= {name: Table.at(self._precision_of(name), arrays[name]) for name in tables}
        if self.index is not None:
            arrays |= {f"index.{name}": value for name, value in self.index.arrays().items()}
        return settings, packed(arrays)

    def _word_tables(self) -> list[str]:
        """The tables with a row for each word; that of the linear path may be kept elsewhere."""
        return [name for name in _OF_WORDS if len(self.state_dict().get(name, ()))]

    def _precision_of(self, table: str) -> str:
        if table == "E.label_vectors" and not self.shape.tied and self.precision == "int8":
            return "int4"  # predictions do not read E; only further training does
        if self.precision == "int4" and table == ("E" if self.shape.tied else "D") + ".label_vectors":
            return "int8"  # D's table is smaller than those of words, and errors in it affect scores most
        return self.precision

    def shrunk(self, precision: str, without: np.ndarray | None = None) -> RankNetwork:
        """The network with its tables rounded to this precision; unchanged if they are that small already.

        without : columns of words whose vectors are dropped.
        """
        if PRECISIONS.index(self.precision) >= PRECISIONS.index(precision):
            return self
        small = copy(self)
        small.precision = precision
        small = RankNetwork.from_state(*small.state(without))
        small.history, small.best_epoch = self.history, self.best_epoch
        return small

    @classmethod
    def from_state(cls, settings: dict[str, Any], arrays: dict[str, np.ndarray]) -> Self:
        """The network of a saved state. Arrays are used in place; a network from mapped files must be copied before it
        can be trained."""
        shape = {name: value for name, value in settings.items() if name != "precision"}
        index = {n.removeprefix("index."): v for n, v in arrays.items() if n.startswith("index.")}
        arrays = unpacked({name: value for name, value in arrays.items() if not name.startswith("index.")})
        with torch.device("meta"):
            network = cls(Architecture(**shape))
        network.precision = settings.get("precision", "float32")
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The given NumPy array is not writable")
            values = {name: torch.from_numpy(np.asarray(value)) for name, value in arrays.items()}
        network.load_state_dict(values, assign=True)
        network.eval()
        if index:
            network.index = UsearchIndex.restore(index, *network.decoder())
        return network

    # Cached tables, valid until training continues -------------------------------------------------------------

    def train(self, mode: bool = True) -> Self:
        self._forget_constants()
        return super().train(mode)

    def _forget_constants(self) -> None:
        self._gates = self._folded = self.index = None

    def _codes(self, rows: Rows) -> Tensor:
        if not isinstance(self.F, FeatureEmbedding):
            return self.F(Documents.from_sequences(rows).to(self.device))  # type: ignore[arg-type]
        if isinstance(rows, CodedRows) and self.training:
            return self.F(rows.bags().to(self.device))
        if self.training:
            return self.F(Bags.from_csr(rows).to(self.device))
        table, attention = self.F.word_vectors, self.F.attention
        bags = (rows.bags_by_row() if isinstance(rows, CodedRows) else Bags.by_row_only(rows)).to(self.device)
        self._gates = self._gates or attention.gates(table)
        if self._gates is None:  # there is no channel attention, or it runs on another device
            return self.F.after_pooling(attention(table, bags), bags)
        return self.F.after_pooling(attention.pool_with(self._gates, table, bags), bags)


def _feature_embedding(shape: Architecture) -> FeatureEmbedding | DocumentEmbedding:
    if shape.word_encoder == "bilstm":
        return DocumentEmbedding(shape)
    kinds = {"attention": FeatureEmbedding, "relu-path": ReluPathEmbedding, "two-path": TwoPathEmbedding}
    return kinds[shape.embedding](shape)


def _array(tensor: Tensor) -> np.ndarray:
    return tensor.detach().cpu().numpy()


def count_rows(rows: Rows) -> int:
    return rows.shape[0] if sp.issparse(rows) else len(rows)  # type: ignore[union-attr]


def _blocks(n: int, size: int) -> Iterator[slice]:
    for start in range(0, n, size):
        yield slice(start, min(n, start + size))
