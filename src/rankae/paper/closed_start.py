"""Initialises a network as the closed-form start (see `rankae.paper.closed_form` and `rankae.paper.two_paths`)."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from rankae.data.word_embeddings import WordEmbeddings
from rankae.paper.closed_form import WarmStart
from rankae.paper.initial import initialise
from rankae.paper.rank_network import RankNetwork
from rankae.paper.settings import JointSettings
from rankae.paper.two_paths import TwoPathEmbedding

TEMPERATURE = 12.0  # ridge scores lie between 0 and 1; the ranking loss needs differences of several units
_CODE_LENGTH = 3.0  # mean length to which codes are scaled for the ReLU layer
_WORD_DEVIATION = 0.1  # standard deviation of the initial word vectors of the attended path


@torch.no_grad()
def started_network(start: WarmStart, settings: JointSettings, embeddings: WordEmbeddings | None = None) -> RankNetwork:
    """F's linear path is the ridge regression, E has the labels' singular vectors V, and D has V times the temperature.

    The word vectors of the attended path are random; those of words with embeddings are a random projection of these.
    """
    words, labels = len(start.word_table), len(start.label_table)
    network = RankNetwork(settings.architecture(words, labels))
    F, E, D = network.F, network.E, network.D
    deviation = _WORD_DEVIATION if settings.word_deviation is None else settings.word_deviation
    initialise(network, settings.seed, word_deviation=deviation)
    if isinstance(F, TwoPathEmbedding):
        F.solved_words.copy_(torch.from_numpy(start.word_table))
        F.squeeze.weight.mul_(_CODE_LENGTH / max(float(np.linalg.norm(start.loo_codes, axis=1).mean()), 1e-6))
    V = torch.from_numpy(start.label_table)
    E.label_vectors.copy_(V)
    if not network.shape.tied:
        D.label_vectors.copy_(TEMPERATURE * V)
    if embeddings is not None:
        _project_embeddings(F.word_vectors, torch.from_numpy(embeddings.vectors), deviation, settings.seed)
    return network


def _project_embeddings(table: Tensor, vectors: Tensor, deviation: float, seed: int) -> None:
    known = vectors.any(dim=1)
    generator = torch.Generator().manual_seed(seed + 1)
    channels = torch.randn(vectors.shape[1], table.shape[1], generator=generator) * deviation
    table[known] = vectors[known] @ channels
