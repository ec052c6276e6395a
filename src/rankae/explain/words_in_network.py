"""Explanations from the inside of Rank-AE: attention of words, and scores that are sums over words.

score = D (FC (sum_j M_j)) + bias,   M_j = V'_j * A_j     with linear D and one layer FC: a sum over words j
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.preprocessing import normalize

from rankae.base.ranker import LabelRanker
from rankae.explain.documents import Document, RowDocument

if TYPE_CHECKING:
    import torch

    from rankae.paper.attention import DualAttention


@dataclass(frozen=True)
class Tokens:
    """The network's input for a document: feature columns, their weights, and the words behind each column."""

    columns: np.ndarray
    weights: np.ndarray
    words: list[list[int]]


def contributions_of_words(
    model: LabelRanker, document: Document, columns: np.ndarray
) -> tuple[np.ndarray, np.ndarray] | None:
    """Summands [words, labels] and base [labels], whose sum is the score; None if the score is no such sum."""
    from rankae.components.stack import Stack
    from rankae.methods.rank_ae import RankAE

    if not isinstance(model, RankAE):
        return None
    if isinstance(model.model_, Stack):
        code = model.model_.code
        if model.model_.stacker is not None or code.residual:
            return None
        tokens = _tokens(model, document)
        vectors = tokens.weights[:, None] * np.asarray(code.word_table)[tokens.columns]
        table, base = code.label_table[columns], code.bias[columns]
    else:
        from torch import nn

        network = model.model_
        if network.shape.activation != "linear" or network.shape.scores != "linear":
            return None
        if network.shape.embedding != "attention":
            return None
        FC = network.F.FC
        if not isinstance(FC, nn.Linear):
            return None
        tokens = _tokens(model, document)
        attended = network.F.attention.attend(_encoded(model, tokens)).detach().numpy()
        vectors = attended / max(1, len(attended)) if network.shape.pooling == "mean" else attended
        decoder, bias = network.folded_decoder()
        table = decoder[columns] @ FC.weight.detach().numpy()
        base = decoder[columns] @ FC.bias.detach().numpy() + bias[columns]
    values = vectors @ table.T
    unnamed = values[[not words for words in tokens.words]].sum(0)
    return _by_word(values, tokens.words, len(document.words)), np.asarray(base) + unnamed


def attention_of_words(model: LabelRanker, document: Document) -> np.ndarray | None:
    """A summed over channels for each word, averaged over its occurrences; None without a gate."""
    from rankae.components.joint_network import JointNetwork
    from rankae.components.stack import Stack
    from rankae.methods.rank_ae import RankAE

    if not isinstance(model, RankAE):
        return None
    tokens = _tokens(model, document)
    if isinstance(model.model_, Stack):
        network = model.model_.network
        if isinstance(network, JointNetwork):
            parts: list[Any] = [network.network.F]
        else:  # of an older file
            parts = [] if network is None else network.members
        sums_of_gates = [_gate_sums(part.attention, _weighted(part.word_vectors, tokens)) for part in parts]
    else:
        sums_of_gates = [_gate_sums(model.model_.F.attention, _encoded(model, tokens))]
    gates = [gate for gate in sums_of_gates if gate is not None]
    if not gates:
        return None
    places = np.zeros(len(document.words))
    for words in tokens.words:
        places[words] += 1
    # A pair of words counts for both of them.
    sums = np.zeros(len(document.words))
    for words, value in zip(tokens.words, np.mean(gates, axis=0), strict=True):
        sums[words] += value
    return sums / np.maximum(places, 1)


def _tokens(model: LabelRanker, document: Document) -> Tokens:
    """The row or sequence that the model reads for the document, with the words behind each feature."""
    rows = model._rows(document.without([()]))
    if isinstance(rows, list):  # a document as the BiLSTM reads it: the columns of its words, in their order
        columns = np.asarray(rows[0])
        weights = np.ones(len(columns), dtype=np.float32)
    else:
        row = normalize(rows)
        columns, weights = row.indices, row.data
    if isinstance(document, RowDocument):
        # If features are scaled, those that the row does not hold have values too, but no words.
        place = {column: i for i, column in enumerate(document.row.indices)}
        return Tokens(columns, weights, [[place[column]] if column in place else [] for column in columns])
    assert model.text_ is not None  # it has read the text
    sources: defaultdict[str, list[int]] = defaultdict(list)
    for i, word in enumerate(document.words):
        for spelling in set(model.text_.read_as(word)):
            sources[spelling].append(i)
    spelled = model.text_.spelled()

    def words_of(spelling: str) -> list[int]:  # a pair of Chinese characters comes from both
        return sources[spelling] if spelling in sources else [i for one in spelling for i in sources.get(one, ())]

    words = [sorted({i for spelling in spelled[column].split(" ") for i in words_of(spelling)}) for column in columns]
    return Tokens(columns, weights, words)


def _encoded(model: LabelRanker, tokens: Tokens) -> torch.Tensor:
    """V' of the paper, [tokens, C]: weighted word vectors, or the states of the BiLSTM that read them."""
    import torch

    F = model.model_.F  # type: ignore[attr-defined]
    if not hasattr(F, "lstm"):
        return _weighted(F.word_vectors, tokens)
    with torch.no_grad():
        vectors = F.word_vectors[torch.as_tensor(np.asarray(tokens.columns, dtype=np.int64))]
        return F.lstm(vectors[None])[0][0] if len(vectors) else vectors.new_zeros(0, 2 * F.lstm.hidden_size)


def _weighted(vectors: torch.Tensor, tokens: Tokens) -> torch.Tensor:
    import torch

    columns = torch.as_tensor(np.asarray(tokens.columns, dtype=np.int64))
    return vectors.detach()[columns] * torch.as_tensor(tokens.weights)[:, None]


def _gate_sums(attention: DualAttention, V: torch.Tensor) -> np.ndarray | None:
    import torch

    if attention.F1 is None or attention.F2 is None:
        return None
    with torch.no_grad():
        return torch.sigmoid(torch.relu(V @ attention.F1.T) @ attention.F2.T).sum(1).numpy()


def _by_word(values: np.ndarray, words: Sequence[list[int]], n_words: int) -> np.ndarray:
    """Sum over the tokens of each word; the value of a word pair is split equally, which keeps the total."""
    out = np.zeros((n_words, values.shape[1]))
    for row, token_words in zip(values, words, strict=True):
        for word in token_words:
            out[word] += row / len(token_words)
    return out
