"""Everything that the joint training of F, E and D can be told."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated, Literal

from rankae.base.parameters import Count, CountFromZero, NotNegative, Positive, Range, Share, Size
from rankae.paper.architecture import Architecture


@dataclass(frozen=True)
class JointSettings:
    """Settings of `train_joint`; the first group is the network's (see `Architecture`).

    The defaults are the paper's model and no more; what it leaves open was chosen on a fifth of Delicious' train rows.
    With linear scores, m only sets the scale of the codes, so m and lambda are one choice.

    margin : m of the ranking loss.
    balance : lambda, the weight of L_ae against L_h.
    loss : "bce" puts binary cross entropy in the place of the ranking loss ("No loss"), "smooth" the smooth ranking
        loss.
    direct : weight of the smooth ranking loss (with `loss` "bce", of BCE) on D(F(x)) itself; 0 in the paper.
    temperature : what scores are multiplied by there. Scores of the labels' singular vectors lie within 0 and 1, where
        the smooth loss hardly tells a positive from a negative.
    shortlist : how many labels a step looks at (see `rankae.paper.hard_negatives`), for label sets so large that
        looking at all of them takes too long; 0, the default, looks at all and is exact.
    decoder_rate, encoder_rate : learning rates of D's and E's label vectors, in multiples of the others'. With tying,
        encoder_rate is that of E and D; a low one keeps them near their start.
    start : of E and D, "cooccurrence" for the labels' singular vectors: codes that know which labels go together
        (section 2.2 of the paper).
    word_deviation : standard deviation of the words' vectors at the start; None for C^-1/2.
    given_deviation : the same for given vectors, such as GloVe's, which are scaled to it; None for `word_deviation`.
    word_optimizer : "adam" scales the step of each number by its own gradients, so a rare word, whose gradients tell
        little, moves as far as a frequent one; "flat" scales the steps of the whole table alike (see `RowAdam`).
    word_rate : learning rate of the words' vectors, in multiples of the others'.
    word_decay : weight decay of the words' vectors; None for `decay`. With "flat" it acts as a ridge on F.
    code_rate : learning rate of F's last layer, FC, in multiples of the others'. While FC keeps its scale, the words'
        decay is a ridge; an FC that grows as fast as words shrink undoes it.
    learning_rate, decay : Adam's step and its decoupled weight decay.
    warmup : share of the steps over which the learning rate rises; it then falls as a cosine.
    word_dropout : share of a row's words that a step does not see.
    patience : stop after this many epochs without a better validation P@1 + P@3 + P@5; 0 runs all epochs.
    threads : None uses what torch is set to.
    """

    code_size: Size = 200
    word_size: Size = 100
    reduction: Count = 4
    embedding: Literal["attention", "two-path", "relu-path"] = "attention"
    residual: CountFromZero = 0
    hidden: CountFromZero = 0
    merged: bool = False
    tied: bool = False
    activation: Literal["linear", "relu"] = "linear"
    scores: Literal["linear", "sigmoid"] = "linear"
    pooling: Literal["sum", "mean"] = "sum"
    attention: bool = True
    word_encoder: Literal["bag", "bilstm"] = "bag"

    margin: NotNegative = 1.0
    balance: NotNegative = 1.0
    loss: Literal["ranking", "smooth", "bce"] = "ranking"
    direct: NotNegative = 0.0
    temperature: Positive = 1.0
    shortlist: CountFromZero = 0

    start: Literal["random", "cooccurrence"] = "random"
    word_deviation: Positive | None = None
    given_deviation: Positive | None = None
    word_optimizer: Literal["adam", "flat"] = "adam"
    word_rate: NotNegative = 1.0
    decoder_rate: NotNegative = 1.0
    encoder_rate: NotNegative = 1.0
    code_rate: NotNegative = 1.0
    word_decay: NotNegative | None = None

    learning_rate: Positive = 1e-2
    decay: NotNegative = 0.1
    epochs: Count = 16
    batch: Count = 128
    warmup: Annotated[float, Range(0, 1)] = 0.1
    word_dropout: Share = 0.0
    patience: CountFromZero = 0
    seed: CountFromZero = 0
    threads: int | None = None
    device: str = "cpu"

    def architecture(self, words: int, labels: int) -> Architecture:
        own = {field.name: getattr(self, field.name) for field in fields(Architecture) if hasattr(self, field.name)}
        return Architecture(words=words, labels=labels, **own)
