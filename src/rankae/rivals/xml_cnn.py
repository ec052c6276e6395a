"""XML-CNN (Liu et al., 2017): word vectors, convolution over words, dynamic max-pooling, a bottleneck, BCE.

The network is the corrected one: a 2022 study found that the authors' code convolves over the axis of the word
vectors. Here filters slide over words.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from rankae.base.parameters import Count, Positive
from rankae.base.search_space import Between, OneOf, Space
from rankae.data.word_embeddings import known_vectors
from rankae.rivals._doc_pooling import max_pool, parts_of
from rankae.rivals._text_network import TextNetwork
from rankae.rivals._word_ids import FIRST_WORD, PADDING


class XMLCNNNetwork(nn.Module):
    """Word numbers -> label scores."""

    def __init__(
        self, n_words: int, n_labels: int, dim: int, widths: tuple[int, ...], filters: int, parts: int, bottleneck: int
    ) -> None:
        super().__init__()
        self.widths, self.parts = widths, parts
        self.embedding = nn.Embedding(n_words, dim, padding_idx=PADDING)
        self.convolutions = nn.ModuleList(nn.Conv1d(dim, filters, width) for width in widths)
        self.hidden = nn.Linear(len(widths) * filters * parts, bottleneck)
        self.output = nn.Linear(bottleneck, n_labels)
        self.word_dropout = nn.Dropout(0.25)
        self.hidden_dropout = nn.Dropout(0.5)

    def forward(self, words: Tensor) -> Tensor:
        vectors = self.word_dropout(self.embedding(words)).transpose(1, 2)
        part = parts_of((words != PADDING).sum(dim=1), words.shape[1], self.parts)
        pooled = []
        for width, convolution in zip(self.widths, self.convolutions, strict=True):
            # Padded on the left only: window t ends at word t, so there is one window a word whatever the width.
            padded = functional.pad(vectors, (width - 1, 0))
            pooled.append(max_pool(functional.relu(convolution(padded)), part, self.parts).flatten(1))
        hidden = functional.relu(self.hidden(torch.cat(pooled, dim=1)))
        return self.output(self.hidden_dropout(hidden))


@dataclass(kw_only=True, eq=False, repr=False)
class XMLCNN(TextNetwork):
    """XML-CNN on raw text.

    Parameters
    ----------
    dim : size of word vectors.
    glove : path (also relative to RANKAE_DATA) of GloVe vectors to start from, or None for a random start.
    widths : words that a filter sees.
    filters : filters of each width.
    parts : equal parts of a document over which each filter is max-pooled.
    bottleneck : units of the hidden layer.
    learning_rate : of Adam.

    See `TextNetwork` for the other parameters.
    """

    method = "xml-cnn"
    search_space: ClassVar[Space] = {
        "learning_rate": Between(1e-4, 3e-3, log=True),
        "bottleneck": OneOf((256, 512)),
        "parts": OneOf((1, 2, 4)),
    }

    dim: Count = 100
    glove: str | None = None
    widths: tuple[Count, ...] = (2, 4, 8)
    filters: Count = 64
    parts: Count = 2
    bottleneck: Count = 512
    learning_rate: Positive = 1e-3

    def _build(self, n_words: int, n_labels: int) -> XMLCNNNetwork:
        return XMLCNNNetwork(n_words, n_labels, self.dim, tuple(self.widths), self.filters, self.parts, self.bottleneck)

    def _start(self, network: XMLCNNNetwork, words: list[str]) -> None:
        if self.glove is None:
            return
        places, vectors, spread = known_vectors(words, self.glove, self.dim)
        table = network.embedding.weight.data
        # Words that GloVe lacks start as strong as the others, so that neither kind drowns the other out.
        table[FIRST_WORD:] *= spread / table[FIRST_WORD:].std()
        table[FIRST_WORD + places] = torch.from_numpy(vectors)

    def _loss(self, scores: Tensor, targets: Tensor) -> Tensor:
        return functional.binary_cross_entropy_with_logits(scores, targets)

    def _optimizer(self, network: nn.Module) -> torch.optim.Optimizer:
        return torch.optim.Adam(network.parameters(), lr=self.learning_rate, fused=True)
