"""Random starting values, the same for the same seed."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from rankae.paper.bilstm import DocumentEmbedding
from rankae.paper.rank_network import RankNetwork


@torch.no_grad()
def initialise(network: RankNetwork, seed: int, word_vectors: Tensor | None = None) -> None:
    """Draw every parameter; `word_vectors` (such as GloVe's) take the place of random ones, and their spread.

    GloVe's numbers are five times as large as what training would start from; left so, a document's few topics drown
    in what all documents have in common.
    """
    generator = torch.Generator().manual_seed(seed)

    def draw(table: Tensor, deviation: float) -> None:
        table.copy_(torch.randn(table.shape, generator=generator) * deviation)

    F, E, D = network.F, network.E, network.D
    spread = F.word_vectors.shape[1] ** -0.5
    draw(F.word_vectors, spread)
    if word_vectors is not None:
        own_spread = float(word_vectors.std(correction=0))
        F.word_vectors.copy_(word_vectors * (spread / own_spread if own_spread > 0 else 1.0))
    if F.attention.F1 is not None and F.attention.F2 is not None:
        draw(F.attention.F1, F.attention.F1.shape[1] ** -0.5)
        draw(F.attention.F2, F.attention.F2.shape[1] ** -0.5)
    if isinstance(F, DocumentEmbedding):
        for weights in F.lstm.parameters():
            draw(weights, F.lstm.hidden_size**-0.5)
    for layer in network.modules():
        if isinstance(layer, nn.Linear):
            draw(layer.weight, layer.in_features**-0.5)
            layer.bias.zero_()
    if network.shape.activation == "linear":
        # Of two linear layers in a row, one may as well start as the identity: training is quicker than from noise.
        E.FC2.weight.copy_(torch.eye(len(E.FC2.weight)))
        D.FC1.weight.copy_(torch.eye(len(D.FC1.weight)))
    draw(E.label_vectors, E.label_vectors.shape[1] ** -0.5)
    draw(D.label_vectors, D.label_vectors.shape[1] ** -0.5)
