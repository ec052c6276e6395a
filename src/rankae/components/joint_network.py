"""The single Rank-AE network as a component of the default model (see `rankae.recipe.joint_network`)."""

from __future__ import annotations

from copy import copy
from dataclasses import asdict
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from rankae.components.predictions import CodePredictions
from rankae.numerics.table import PRECISIONS, packed, unpacked
from rankae.paper.bags import CodedRows
from rankae.paper.closed_start import TEMPERATURE
from rankae.paper.joint import train_joint
from rankae.paper.rank_network import RankNetwork
from rankae.paper.settings import JointSettings
from rankae.paper.two_paths import TwoPathEmbedding

_UPDATE_RATE = 3e-4  # learning rate of an update, a tenth of that of a new network
_LOSS: dict[str, Any] = {"loss": "smooth", "margin": 0.0, "direct": 1.0}
_LOSS_IF_TIED: dict[str, Any] = {"direct": 0.3, "temperature": 4.0}
_LINEAR_PATH = "F.solved_words"


class JointNetwork:
    """F, E and D of one network, which scores labels by D(F(x)).

    Its linear path has the same word table as the component `ClosedForm`, so it is stored there only, and `predict` is
    given the codes.
    """

    name = "network"

    def __init__(self, network: RankNetwork) -> None:
        self.network = network
        if isinstance(network.F, TwoPathEmbedding):
            network.F.without_words()

    @property
    def shape(self) -> tuple[int, int]:
        """Number of words and of labels."""
        return self.network.shape.words, self.network.shape.labels

    @property
    def history(self) -> list[dict[str, Any]]:
        return self.network.history

    def predict(self, rows: sp.csr_matrix, codes: np.ndarray) -> CodePredictions:
        """codes : output of the linear path for these rows, x W."""
        return CodePredictions(self.network.codes_for_decoder(self._read(rows, codes)), *self.network.decoder())

    def _read(self, rows: sp.csr_matrix, codes: np.ndarray) -> sp.csr_matrix | CodedRows:
        return CodedRows(rows, codes) if self.network.shape.embedding == "two-path" else rows

    def trained_further(
        self, rows: sp.csr_matrix, codes: np.ndarray, labels: sp.csr_matrix, epochs: int, seed: int = 0
    ) -> JointNetwork:
        """A copy of the network after some more epochs on new rows."""
        shape = {name: value for name, value in asdict(self.network.shape).items() if name not in ("words", "labels")}
        loss = _LOSS_IF_TIED if self.network.shape.tied else _LOSS
        settings = JointSettings(**shape, **loss, decay=0.0, learning_rate=_UPDATE_RATE, epochs=epochs, seed=seed)
        return JointNetwork(train_joint(self._read(rows, codes), labels, settings, network=self.network))

    def with_labels(self, vectors: np.ndarray, biases: np.ndarray) -> JointNetwork:
        """The network with further labels, given their rows of D; E gets the same vectors."""
        settings, arrays = self.state()
        if self.network.shape.tied:
            longer = {"E.label_vectors": vectors, "D.label_bias": biases - vectors @ np.asarray(arrays["D.bias"])}
        else:
            longer = {"E.label_vectors": vectors / TEMPERATURE, "D.label_vectors": vectors, "D.label_bias": biases}
        for name, more in longer.items():
            arrays[name] = np.concatenate([np.asarray(arrays[name]), more.astype(np.float32)])
        shape = settings["shape"] | {"labels": settings["shape"]["labels"] + len(biases)}
        return JointNetwork.from_state({"shape": shape}, arrays)

    def shrunk(self, precision: str, without: np.ndarray | None = None) -> JointNetwork:
        """The network with its tables rounded to this precision; unchanged if they are that small already.

        without : columns of words whose attended vectors are dropped.
        """
        if PRECISIONS.index(self.network.precision) >= PRECISIONS.index(precision):
            return self
        small = copy(self.network)
        small.precision = precision
        settings, arrays = small.state(without)
        return JointNetwork.from_state({"shape": settings}, unpacked(arrays))

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        settings, packed_arrays = self.network.state()
        arrays = {name: value for name, value in unpacked(packed_arrays).items() if name != _LINEAR_PATH}
        return {"shape": settings}, arrays

    @classmethod
    def from_state(cls, settings: dict[str, Any], arrays: dict[str, np.ndarray]) -> Self:
        shape = settings["shape"]
        if shape["embedding"] == "two-path":
            nothing = np.broadcast_to(np.float32(0), (shape["words"], shape["code_size"]))
            arrays = arrays | {_LINEAR_PATH: nothing}
        network = RankNetwork.from_state(shape, packed(arrays))
        return cls(network)
