"""The network as a component of the model: dual attention over words, a wide ReLU code, D, trained end to end.

    x_h = relu(pool(V' * A) + b)        y' = D x_h

It is what the closed-form start cannot be: not linear. Half of the code and a share of the words are hidden from every
step, because without that a random start overfits small data. Several networks average their scores; their codes side
by side are one longer code, so an average costs no more machinery than a single network.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn

from rankae.components.predictions import CodePredictions
from rankae.data.word_embeddings import WordEmbeddings
from rankae.numerics.table import Table
from rankae.numerics.threads import limited_to
from rankae.paper.attention import DualAttention, WordGates
from rankae.paper.bags import Bags
from rankae.paper.batches import ahead, epoch_batches
from rankae.paper.kernels import take_rows
from rankae.paper.losses import bce_loss
from rankae.paper.losses.smooth_ranking import smooth_ranking_loss
from rankae.paper.optimizer import RowAdam
from rankae.paper.schedule import learning_rate_factor
from rankae.progress import bar

Figures = dict[str, Any]
_WORD_DEVIATION = 0.1  # of the numbers in a word's vector at the start
_WORTH_THREADS = 2**27  # products of a batch with D from which on torch's threads are a help


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

    @torch.no_grad()
    def initialise(self, seed: int, embeddings: WordEmbeddings | None = None) -> None:
        """Draw every parameter; words that have an embedding, such as GloVe's, start from a random map of it."""
        generator = torch.Generator().manual_seed(seed)
        C = self.word_vectors.shape[1]
        for parameter, deviation in [
            (self.word_vectors, _WORD_DEVIATION),
            (self.attention.F1, C**-0.5),
            (self.attention.F2, C**-0.5),
            (self.label_vectors, 0.5 * C**-0.5),
        ]:
            if parameter is not None:
                parameter.copy_(torch.randn(parameter.shape, generator=generator) * deviation)
        if embeddings is not None:
            vectors = torch.from_numpy(embeddings.vectors)
            known = vectors.any(dim=1)
            channels = torch.randn(vectors.shape[1], C, generator=generator) * _WORD_DEVIATION
            self.word_vectors[known] = (vectors[known] @ channels).to(self.word_vectors.device)

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

    @classmethod
    def train(
        cls,
        rows: sp.csr_matrix,
        labels: sp.csr_matrix,
        settings: WordsNetworkSettings,
        members: int = 1,
        seed: int = 0,
        on_epoch: Callable[[Figures], None] | None = None,
        embeddings: WordEmbeddings | None = None,
    ) -> Self:
        """Train `members` networks that differ by their seed; see `WordsNetwork.initialise` for `embeddings`."""
        networks, history = [], []
        with bar("training the network", members * settings.epochs * rows.shape[0]) as progress:
            for member in range(members):
                network = WordsNetwork(rows.shape[1], labels.shape[1], settings).to(settings.device)
                network.initialise(seed + 1000 * member, embeddings)

                def note(figures: Figures, member: int = member) -> None:
                    history.append({"member": member + 1} | figures)
                    if on_epoch is not None:
                        on_epoch(history[-1])

                _train(network, rows, labels, settings, seed + 1000 * member, progress.advance, note)
                networks.append(network.eval())
        component = cls(networks, settings)
        component.history = history
        return component

    def trained_further(
        self, rows: sp.csr_matrix, labels: sp.csr_matrix, settings: WordsNetworkSettings, seed: int = 0
    ) -> NetworkComponent:
        """The same networks after some more epochs on these rows; this component stays as it is."""
        members = [copy.deepcopy(member) for member in self.members]
        for i, member in enumerate(members):
            _train(member, rows, labels, settings, seed + 1000 * i, lambda *_, **__: None, lambda _: None)
        return NetworkComponent([member.eval() for member in members], self.settings)

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


def _train(
    network: WordsNetwork,
    rows: sp.csr_matrix,
    labels: sp.csr_matrix,
    settings: WordsNetworkSettings,
    seed: int,
    advance: Callable[..., None],
    on_epoch: Callable[[Figures], None],
) -> None:
    table = network.word_vectors
    dense = [p for p in network.parameters() if p is not table]
    of_dense, of_words = torch.optim.AdamW(dense, weight_decay=0.0, fused=True), RowAdam([table])
    optimizers = [of_dense, of_words]
    # Attention shares its work out among threads by itself. The rest of a step may be a dozen operations so short that
    # torch's threads, which meet after each, cost more than they bring: on a busy machine several times the work.
    few = 1 if settings.batch * table.shape[1] * labels.shape[1] < _WORTH_THREADS else None
    loss_of = smooth_ranking_loss if settings.loss == "smooth" else bce_loss
    steps = settings.epochs * -(-rows.shape[0] // settings.batch)
    step = 0
    torch.manual_seed(seed)  # dropout draws from torch's own generator
    network.train()
    for epoch in range(settings.epochs):
        total = 0.0
        batches = rows, labels, settings.batch, settings.word_dropout, seed, epoch
        for x, y in ahead(partial(epoch_batches, *batches)):
            rate = settings.learning_rate * learning_rate_factor(step, steps, settings.warmup)
            for optimizer in optimizers:
                optimizer.param_groups[0]["lr"] = rate
                optimizer.zero_grad()
            x, y = x.to(settings.device), y.to(settings.device)
            assert isinstance(x, Bags)  # rows are a matrix, not sequences
            with limited_to(few):
                vectors = take_rows(table, x.distinct)
            pooled = network.attention(vectors, x)
            with limited_to(few):
                leaf = pooled.detach().requires_grad_()
                loss = loss_of(network.scores(leaf), y.dense(labels.shape[1]))
                loss.backward()
            pooled.backward(leaf.grad)
            with limited_to(few):
                of_dense.step()
            of_words.step()
            step += 1
            total += loss.item() * len(y)
            advance(len(y), loss=f"{loss.item():.3f}")
        on_epoch({"epoch": epoch + 1, "loss": total / rows.shape[0]})
