"""Initial parameters of a network: random, given word vectors, and singular vectors of the labels."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from rankae.paper.bilstm import DocumentEmbedding
from rankae.paper.label_decoder import LabelDecoder
from rankae.paper.rank_network import RankNetwork
from rankae.paper.two_paths import TwoPathEmbedding

_REST = 0.1  # of a random start's deviation, for the dimensions that given codes do not cover


@torch.no_grad()
def initialise(
    network: RankNetwork,
    seed: int,
    word_vectors: Tensor | None = None,
    *,
    word_deviation: float | None = None,
    given_deviation: float | None = None,
    label_codes: Tensor | None = None,
) -> None:
    """Initialise every parameter.

    Parameters
    ----------
    word_vectors : used in place of random ones, such as GloVe's, and scaled to a deviation of `given_deviation`.
        GloVe's numbers are five times as large as those of a random start; unscaled, what all documents have in common
        would dominate the pooled vectors.
    word_deviation : standard deviation of random word vectors; None for C^-1/2.
    label_codes : [L, at most h], such as the labels' singular vectors V, from which E and D start: y_h = V' y and
        y' = V y_h. The remaining dimensions of the code start near 0, and F's channels start as its leading dimensions.
    """
    generator = torch.Generator().manual_seed(seed)

    def draw(table: Tensor, deviation: float) -> None:
        table.copy_(torch.randn(table.shape, generator=generator) * deviation)

    F, E, D = network.F, network.E, network.D
    spread = F.word_vectors.shape[1] ** -0.5 if word_deviation is None else word_deviation
    draw(F.word_vectors, spread)
    if word_vectors is not None:
        spread = spread if given_deviation is None else given_deviation
        given_spread = float(word_vectors.std(correction=0))
        F.word_vectors.copy_(word_vectors * (spread / given_spread if given_spread > 0 else 1.0))
    if F.attention.F1 is not None and F.attention.F2 is not None:
        draw(F.attention.F1, F.attention.F1.shape[1] ** -0.5)
        draw(F.attention.F2, F.attention.F2.shape[1] ** -0.5)
    if isinstance(F, DocumentEmbedding):
        for weights in F.lstm.parameters():
            draw(weights, F.lstm.hidden_size**-0.5)
    for layer in network.modules():
        if isinstance(layer, nn.Linear):
            draw(layer.weight, layer.in_features**-0.5)
            if layer.bias is not None:
                layer.bias.zero_()
    if isinstance(F, TwoPathEmbedding):
        # Both paths beside the linear one start at 0 and gates at 1/2, so the network starts as its closed form.
        F.solved_words.zero_()
        for table in (F.FC.weight, F.expand.weight, F.attention.F2):
            if table is not None:
                table.zero_()
    if network.shape.activation == "linear" and not network.shape.merged:
        # One of two consecutive linear layers starts as the identity, which trains faster than a random start.
        E.FC2.weight.copy_(torch.eye(len(E.FC2.weight)))
        if isinstance(D, LabelDecoder):
            D.FC1.weight.copy_(torch.eye(len(D.FC1.weight)))
    if label_codes is not None and isinstance(F.FC, nn.Linear):
        # Channel c starts as the c-th leading direction of the labels; with C < h, random channels would miss some.
        F.FC.weight.copy_(torch.eye(*F.FC.weight.shape))
    for table in (E.label_vectors, D.label_vectors):  # one and the same, if D is tied
        draw(table, table.shape[1] ** -0.5)
        if label_codes is not None:
            table.mul_(_REST)
            table[:, : label_codes.shape[1]] = label_codes
