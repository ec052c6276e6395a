"""Bow-CNN (Johnson & Zhang, 2014): a convolution whose input at each place is the bag of the words around it.

A linear map of a bag is the sum of its words' vectors, and neighbouring bags share most of their words:
a running sum over words gives every bag by one subtraction, whatever the size of the region.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from rankae.base.parameters import Count, NotNegative, Positive, Share
from rankae.base.search_space import Between, Space
from rankae.rivals._doc_pooling import mean_pool, parts_of
from rankae.rivals._text_network import TextNetwork
from rankae.rivals._word_ids import PADDING, UNKNOWN


class BowCNNNetwork(nn.Module):
    """Word numbers -> label scores."""

    def __init__(self, n_words: int, n_labels: int, region: int, stride: int, units: int, parts: int) -> None:
        super().__init__()
        self.region, self.stride, self.parts = region, stride, parts
        self.words = nn.Embedding(n_words, units)
        self.bias = nn.Parameter(torch.zeros(units))
        self.output = nn.Linear(parts * units, n_labels)
        nn.init.normal_(self.words.weight, std=0.01)
        nn.init.normal_(self.output.weight, std=0.01)
        nn.init.zeros_(self.output.bias)

    def forward(self, words: Tensor) -> Tensor:
        # A word outside the vocabulary is in no bag, and neither is padding.
        vectors = self.words(words) * (words > UNKNOWN)[..., None]
        # With region - 1 empty places on either side, every word is in `region` bags before the stride thins them.
        sums = functional.pad(vectors.cumsum(dim=1), (0, 0, self.region, 0))
        last = torch.arange(0, words.shape[1] + self.region - 1, self.stride, device=words.device)
        width = sums.shape[1] - 1
        bags = sums[:, (last + self.region).clamp(max=width)] - sums[:, last.clamp(max=width)]
        active = functional.relu(bags + self.bias)
        lengths = (words != PADDING).sum(dim=1) + self.region - 1
        pooled = mean_pool(active, parts_of(-(-lengths // self.stride), active.shape[1], self.parts), self.parts)
        # Response normalisation: a part of the document speaks with at most unit strength.
        pooled = pooled * (1 + pooled.square().sum(dim=2, keepdim=True)).rsqrt()
        return self.output(pooled.flatten(1))


@dataclass(kw_only=True, eq=False, repr=False)
class BowCNN(TextNetwork):
    """Bow-CNN on raw text, trained by SGD on square loss.

    The authors' rate of 0.5 makes scores swing from epoch to epoch on thousands of rows; 0.1 does not.

    Parameters
    ----------
    region : words in a bag.
    stride : places between bags.
    units : neurons over each bag.
    parts : equal parts of a document over which neurons are averaged.
    learning_rate, momentum, weight_decay : of SGD; the rate falls to a tenth at 80 % of the epochs.

    See `TextNetwork` for the other parameters.
    """

    method = "bow-cnn"
    search_space: ClassVar[Space] = {
        "learning_rate": Between(0.05, 1.0, log=True),
        "weight_decay": Between(1e-6, 1e-3, log=True),
    }

    region: Count = 20
    stride: Count = 2
    units: Count = 1000
    parts: Count = 10
    learning_rate: Positive = 0.1
    momentum: Share = 0.9
    weight_decay: NotNegative = 1e-4
    epochs: Count = 30
    batch_size: Count = 100
    patience: Count = 5

    def _build(self, n_words: int, n_labels: int) -> nn.Module:
        return BowCNNNetwork(n_words, n_labels, self.region, self.stride, self.units, self.parts)

    def _loss(self, scores: Tensor, targets: Tensor) -> Tensor:
        return 0.5 * (scores - targets).square().sum(dim=1).mean()

    def _optimizer(self, network: nn.Module) -> torch.optim.Optimizer:
        return torch.optim.SGD(
            network.parameters(),
            lr=self.learning_rate,
            momentum=self.momentum,
            weight_decay=self.weight_decay,
            fused=True,
        )

    def _scheduler(self, optimizer: torch.optim.Optimizer) -> torch.optim.lr_scheduler.LRScheduler:
        return torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones=[int(0.8 * self.epochs)], gamma=0.1)
