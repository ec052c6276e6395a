"""The base class of the word-level networks: vocabulary, training, prediction and files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import scipy.sparse as sp
import torch
from sklearn.utils import check_random_state
from torch import Tensor, nn

from rankae.base.parameters import Count, Device, RandomState
from rankae.base.ranker import LabelRanker
from rankae.errors import ModelFileError
from rankae.rivals._network_training import (
    batches_of_like_length,
    hold_out,
    ndcg,
    pick_device,
    seeded,
    train_network,
    weights_from_arrays,
    weights_to_arrays,
)
from rankae.rivals._ranked import Ranked, nothing_ranked, rank_dense
from rankae.rivals._word_ids import Sequences, WordIds

ROWS_AT_ONCE = 128
JUDGED_PLACES = 5


@dataclass(kw_only=True, eq=False, repr=False)
class TextNetwork(LabelRanker):
    """A network from word numbers (rows x words, 0 = padding) to a score for each label.

    A method implements its network, its loss and its optimiser.

    Parameters
    ----------
    vocabulary : most frequent words that have a vector of their own.
    longest : words of a document that are read.
    epochs, batch_size : of the optimiser.
    patience : stop after so many epochs without a gain on held-out rows (a tenth); the best epoch is kept.
    device : "auto", "cpu", "cuda", ...
    random_state : seed.
    """

    reads = "text"

    vocabulary: Count = 30_000
    longest: Count = 500
    epochs: Count = 20
    batch_size: Count = 64
    patience: Count = 3
    device: Annotated[str, Device(auto=True)] = "auto"
    random_state: RandomState = None

    def _build(self, n_words: int, n_labels: int) -> nn.Module:
        raise NotImplementedError

    def _loss(self, scores: Tensor, targets: Tensor) -> Tensor:
        raise NotImplementedError

    def _optimizer(self, network: nn.Module) -> torch.optim.Optimizer:
        raise NotImplementedError

    def _scheduler(self, optimizer: torch.optim.Optimizer) -> torch.optim.lr_scheduler.LRScheduler | None:
        """How the learning rate falls, epoch by epoch; constant unless a method says otherwise."""
        return None

    def _start(self, network: Any, words: list[str]) -> None:
        """Change the random starting weights, for example to pre-trained word vectors."""

    def _fit(self, rows: list[str], labels: sp.csr_matrix) -> None:
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        random = np.random.default_rng(seed)
        device = pick_device(self.device)
        self.words_ = WordIds.learn(rows, self.vocabulary, self.longest)
        texts = self.words_.read(rows)
        train, held = hold_out(len(rows), random)
        judged = min(JUDGED_PLACES, labels.shape[1])

        def loss_of(batch: np.ndarray) -> Tensor:
            targets = torch.from_numpy(labels[batch].toarray()).to(device)
            return self._loss(self.network_(torch.from_numpy(texts.padded(batch)).to(device)), targets)

        with seeded(seed):
            self.network_ = self._build(len(self.words_), labels.shape[1])
            self._start(self.network_, self.words_.words)
            self.network_.to(device)
            optimizer = self._optimizer(self.network_)
            self.best_epoch_ = train_network(
                self.network_,
                optimizer,
                lambda: batches_of_like_length(train, texts.lengths, self.batch_size, random),
                loss_of,
                (lambda: ndcg(self._rank(texts, held, judged)[0], labels[held])) if len(held) else None,
                epochs=self.epochs,
                patience=self.patience,
                description=f"{self.method}: epochs",
                scheduler=self._scheduler(optimizer),
            )

    def _top(self, rows: list[str], k: int) -> Ranked:
        return self._rank(self.words_.read(rows), np.arange(len(rows)), k)

    @torch.inference_mode()
    def _rank(self, texts: Sequences, rows: np.ndarray, k: int) -> Ranked:
        self.network_.eval()
        device = next(self.network_.parameters()).device
        columns, scores = nothing_ranked(len(rows), k)
        order = np.argsort(texts.lengths[rows], kind="stable")
        for start in range(0, len(rows), ROWS_AT_ONCE):
            block = order[start : start + ROWS_AT_ONCE]
            block_scores = self.network_(torch.from_numpy(texts.padded(rows[block])).to(device))
            columns[block], scores[block] = rank_dense(block_scores.cpu().numpy(), k)
        return columns, scores

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        settings = {"words": len(self.words_), "labels": len(self.classes_), "best_epoch": self.best_epoch_}
        return settings, weights_to_arrays(self.network_) | {"vocabulary": self.words_.to_array()}

    def _restore(self, settings: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        self.best_epoch_ = settings["best_epoch"]
        self.words_ = WordIds.from_array(arrays["vocabulary"], self.longest)
        if (settings["words"], settings["labels"]) != (len(self.words_), len(self.classes_)):
            raise ModelFileError("the model's network does not fit its words or labels; train it again")
        self.network_ = self._build(settings["words"], settings["labels"])
        weights_from_arrays(self.network_, arrays)
        self.network_.to(pick_device(self.device))
