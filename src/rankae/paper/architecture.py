"""The architecture of a Rank-AE network: everything needed to build one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Architecture:
    """Sizes and switches, named as in the paper where it names them.

    words : V, the number of features.
    labels : L.
    code_size : h, the size of the space that F and E share.
    word_size : C, the size of a word vector, which is the number of channels.
    reduction : r, how much the channel attention squeezes: F1 is C / r x C.
    embedding : of features; "attention" is the paper's, "two-path" has a closed form beside it,
        "relu-path" only its ReLU units (`ReluPathEmbedding`, `TwoPathEmbedding`).
    residual : number of ReLU units that read the linear path's code ("two-path").
    hidden : size of a ReLU layer between pooling and F's last layer; 0 for none, as in the paper.
    tied : whether D shares E's transposed weights (see `TiedDecoder`); False, as in the paper, for weights of its own.
    merged : whether E and D have one layer each, to which two consecutive linear layers are equivalent.
    activation : between the two layers of E and of D.
    scores : range of D's scores; "sigmoid" bounds them to [0, 1].
    pooling : of the attended words of a row; "mean" is the paper's average pooling.
    attention : False leaves out the channel attention ("No attn").
    word_encoder : "bag" weighs word vectors by the features; "bilstm" reads token sequences.
    """

    words: int
    labels: int
    code_size: int = 200
    word_size: int = 100
    reduction: int = 4
    embedding: Literal["attention", "two-path", "relu-path"] = "attention"
    residual: int = 0
    hidden: int = 0
    merged: bool = False
    tied: bool = False
    activation: Literal["linear", "relu"] = "linear"
    scores: Literal["linear", "sigmoid"] = "linear"
    pooling: Literal["sum", "mean"] = "sum"
    attention: bool = True
    word_encoder: Literal["bag", "bilstm"] = "bag"
