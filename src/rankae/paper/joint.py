"""The paper's training: F, E and D together, by gradient steps on L_h + lambda L_ae."""

from __future__ import annotations

import time
from collections.abc import Callable
from copy import deepcopy
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from rankae.errors import DataError, RankaeError
from rankae.model_file.checkpoint import (
    Checkpoint,
    optimizer_tensors,
    read_checkpoint,
    restore_optimizer,
    write_checkpoint,
)
from rankae.numerics.singular_vectors import leading_vectors
from rankae.numerics.threads import limited_to
from rankae.paper.bags import Bags, CodedRows
from rankae.paper.batches import ahead, epoch_batches
from rankae.paper.hard_negatives import Shortlist
from rankae.paper.initial import initialise
from rankae.paper.kernels import take_rows
from rankae.paper.losses import bce_loss, common_embedding_loss, ranking_loss
from rankae.paper.losses.fused_ranking import fused_ranking_loss
from rankae.paper.losses.smooth_ranking import smooth_ranking_loss
from rankae.paper.parameter_groups import joint_optimizers
from rankae.paper.rank_network import Batch, RankNetwork, Rows
from rankae.paper.schedule import learning_rate_factor
from rankae.paper.settings import JointSettings
from rankae.progress import bar

Figures = dict[str, Any]

# How far a run has come: what a checkpoint holds besides tensors and settings.
_PROGRESS = ("step", "epoch", "best_epoch", "best_score", "history")


def train_joint(
    rows: Rows,
    labels: sp.csr_matrix,
    settings: JointSettings | None = None,
    *,
    words: int | None = None,
    word_vectors: np.ndarray | None = None,
    network: RankNetwork | None = None,
    validation: tuple[Rows, sp.csr_matrix] | None = None,
    checkpoint_dir: str | Path | None = None,
    resume: bool = False,
    on_epoch: Callable[[Figures], None] | None = None,
) -> RankNetwork:
    """Train a Rank-AE network.

    Parameters
    ----------
    rows : CSR float32 (weighted words), also with leave-one-out codes (`CodedRows`), or token id sequences if
        `settings.word_encoder` is "bilstm".
    labels : CSR 0/1, rows x labels.
    words : size of the vocabulary of token sequences; by default the largest id plus one.
    word_vectors : [words, C] to start from, such as GloVe, in place of random ones.
    network : a network to go on from, in place of a new one; it is left as it is.
    validation : held-out rows and labels, scored after every epoch; the best epoch's network is returned, or the given
        one, if no epoch is better.
    checkpoint_dir : where the state is written after every epoch.
    resume : go on from the checkpoint there, if there is one; the result is that of an uninterrupted run.
    on_epoch : called with the figures of each epoch.
    """
    settings = settings or JointSettings()
    if labels.shape[0] == 0:
        raise DataError("there are no rows to learn from")
    if settings.shortlist < 0:
        raise RankaeError(f"shortlist is {settings.shortlist}; give the number of labels a step looks at, or 0 for all")
    from rankae.paper import distributed

    if distributed.is_running():
        if validation is not None:
            raise RankaeError("several processes train without validation rows; set the epochs, as in --set epochs=8")
        given: dict[str, Any] = {"words": words, "word_vectors": word_vectors, "network": network}
        kept: dict[str, Any] = {"checkpoint_dir": checkpoint_dir, "resume": resume}
        return distributed.train_on_ranks(rows, labels, settings, **given, **kept)
    with limited_to(settings.threads):
        started = network is not None
        if network is None:
            network = new_network(rows, labels, settings, words, word_vectors)
        else:
            network = deepcopy(network)  # the given one may lie in a mapped, read-only file
            if network.precision in ("int8", "int4"):  # what it now learns is less than their rounding errors
                network.precision = "float16"
        steps_per_epoch = -(-labels.shape[0] // settings.batch)
        run = JointTraining(network.to(settings.device), settings, steps_per_epoch)
        if resume and checkpoint_dir is not None:
            run.restore(read_checkpoint(checkpoint_dir))
        with bar("epochs", settings.epochs) as progress:
            progress.advance(run.epoch)
            if validation is not None and run.epoch == 0 and started:
                run.judge(*validation)
            while not run.finished:
                figures = run.epoch_over(rows, labels, validation)
                if checkpoint_dir is not None:
                    write_checkpoint(checkpoint_dir, run.checkpoint())
                progress.advance(loss=figures["loss"])
                if on_epoch is not None:
                    on_epoch(figures)
        return run.result()


class JointTraining:
    """One run: the network, its optimisers, and how far it has come."""

    def __init__(self, network: RankNetwork, settings: JointSettings, steps_per_epoch: int) -> None:
        self.network, self.settings = network, settings
        self.steps = settings.epochs * steps_per_epoch
        self.step = self.epoch = 0
        self.history: list[Figures] = []
        self.best: dict[str, Tensor] | None = None
        self.best_epoch, self.best_score = 0, -1.0
        self.shortlist: Shortlist | None = None
        if settings.shortlist:
            self.shortlist = Shortlist(network.shape.labels, settings.shortlist, settings.seed)
        self.optimizers = joint_optimizers(network, settings)

    @property
    def finished(self) -> bool:
        waited = self.epoch - self.best_epoch
        return self.epoch >= self.settings.epochs or (0 < self.settings.patience <= waited and self.best is not None)

    def epoch_over(
        self, rows: Rows, labels: sp.csr_matrix, validation: tuple[Rows, sp.csr_matrix] | None = None
    ) -> Figures:
        """One pass over the training rows; returns its figures."""
        settings, began = self.settings, time.perf_counter()
        totals: dict[str, float] = {}
        if self.shortlist is not None:
            self.shortlist.draw_from(np.unique(labels.indices).astype(np.int64))
        self.network.train()
        torch.manual_seed(settings.seed * 100_003 + self.epoch)  # of dropout; a run that resumes draws the same
        batches = (rows, labels, settings.batch, settings.word_dropout, settings.seed, self.epoch)
        for x, y in ahead(lambda: epoch_batches(*batches)):
            for name, value in self._take_step(x.to(settings.device), y.to(settings.device)).items():
                totals[name] = totals.get(name, 0.0) + value * len(y)
        self.epoch += 1
        seconds = time.perf_counter() - began
        figures: Figures = {"epoch": self.epoch} | {name: t / labels.shape[0] for name, t in totals.items()}
        figures |= {"seconds": seconds, "rows_per_second": labels.shape[0] / seconds}
        if validation is not None:
            figures |= self.judge(*validation)
        self.history.append(figures)
        return figures

    def losses(self, x: Batch, y: Bags) -> dict[str, Tensor]:
        """The weighted parts of the loss: L_h(F(x), E(y)), lambda L_ae(y, D(E(y))) and, if asked, a loss on D(F(x))."""
        F, E = self.network.F, self.network.E
        x_h, y_h = F(x), E(y)
        last_layer = self._last_layer(y)
        parts = {
            "L_h": common_embedding_loss(x_h, y_h),
            "L_ae": self.settings.balance * self._label_loss(y_h, *last_layer),
        }
        if self.settings.direct:
            parts["direct"] = self.settings.direct * self._direct_loss(x_h, *last_layer)
        return parts

    def _last_layer(self, y: Bags) -> tuple[Tensor, Tensor, Bags]:
        """D's vectors and biases of the labels that this step looks at, and the positives by their place among them."""
        D = self.network.D
        if self.shortlist is None:
            return D.label_vectors, D.label_bias, y
        labels = self.shortlist.choose(y.distinct, self.step)
        among = replace(y, distinct=torch.searchsorted(labels, y.distinct))
        return take_rows(D.label_vectors, labels), take_rows(D.label_bias, labels), among

    def _direct_loss(self, codes: Tensor, table: Tensor, bias: Tensor, y: Bags) -> Tensor:
        """Of what F says, which is never exact: the one lowest of a row's positives would rule L_P."""
        if self.settings.loss == "bce":
            return self._label_loss(codes, table, bias, y)
        scores = torch.nn.functional.linear(self.network.D.hidden(codes), table, bias)
        return smooth_ranking_loss(self.settings.temperature * scores, y.dense(len(bias)))

    def _label_loss(self, codes: Tensor, table: Tensor, bias: Tensor, y: Bags) -> Tensor:
        settings, hidden = self.settings, self.network.D.hidden(codes)
        if settings.loss == "ranking" and settings.scores == "linear" and codes.device.type == "cpu":
            return fused_ranking_loss(hidden, table, bias, y, settings.margin)
        scores = torch.nn.functional.linear(hidden, table, bias)
        if settings.loss == "bce":
            return bce_loss(scores, y.dense(len(bias)))
        if settings.loss == "smooth":
            return smooth_ranking_loss(scores, y.dense(len(bias)), settings.margin)
        scores = scores if settings.scores == "linear" else torch.sigmoid(scores)
        return ranking_loss(scores, y.dense(len(bias)), settings.margin)

    def _take_step(self, x: Batch, y: Bags) -> dict[str, float]:
        factor = learning_rate_factor(self.step, self.steps, self.settings.warmup)
        for optimizer in self.optimizers.values():
            for group in optimizer.param_groups:
                group["lr"] = self.settings.learning_rate * factor * group["rate"]
            optimizer.zero_grad()
        parts = self.losses(x, y)
        loss = torch.stack(list(parts.values())).sum()
        loss.backward()
        self.gradients_are_there()
        if self.shortlist is not None:
            of_biases = self.network.D.label_bias.grad.coalesce()  # type: ignore[union-attr]
            self.shortlist.learn(of_biases.indices()[0], of_biases.values())
        for optimizer in self.optimizers.values():
            optimizer.step()
        self.step += 1
        values = {"loss": loss.item()} | {name: part.item() for name, part in parts.items()}
        if not np.isfinite(values["loss"]):
            raise RankaeError(
                f"the loss became {values['loss']} in epoch {self.epoch + 1}; lower the learning rate "
                f"(now {self.settings.learning_rate:g}) or scale the features"
            )
        return values

    def gradients_are_there(self) -> None:
        """Called before each step of the optimisers: for those who share gradients with other processes."""

    def judge(self, rows: Rows, labels: sp.csr_matrix) -> Figures:
        """P@k of the network as it is; the best so far is kept."""
        from rankae.metrics import evaluate

        self.network.eval()
        figures = evaluate(self.network.top(rows, 5)[0], labels)
        kept = {name: value for name, value in figures.items() if name.startswith("P@")}
        score = sum(kept.values())
        if score > self.best_score:
            self.best_score, self.best_epoch = score, self.epoch
            self.best = {name: value.detach().clone() for name, value in self.network.state_dict().items()}
        return kept

    def result(self) -> RankNetwork:
        """The network as it is, or as it was at its best on the validation rows."""
        if self.best is not None:
            self.network.load_state_dict(self.best)
        self.network.history, self.network.best_epoch = self.history, self.best_epoch
        return self.network.eval()

    def checkpoint(self) -> Checkpoint:
        tensors = {f"network.{name}": value for name, value in self.network.state_dict().items()}
        tensors |= {f"best.{name}": value for name, value in (self.best or {}).items()}
        for name, optimizer in self.optimizers.items():
            tensors |= optimizer_tensors(name, optimizer)
        if self.shortlist is not None:
            tensors |= {"shortlist.strength": self.shortlist.strength, "shortlist.violators": self.shortlist.violators}
        progress = {name: getattr(self, name) for name in _PROGRESS}
        return Checkpoint(tensors, progress | {"settings": self._comparable_settings()})

    def restore(self, checkpoint: Checkpoint | None) -> None:
        """Go on where a checkpoint left off."""
        if checkpoint is None:
            return
        tensors, facts = checkpoint.tensors, checkpoint.facts
        if facts["settings"] != self._comparable_settings():
            raise RankaeError("the checkpoint was written with other settings; train without --resume, or restore them")
        self.network.load_state_dict(_under("network.", tensors))
        self.best = _under("best.", tensors) or None
        for name, optimizer in self.optimizers.items():
            restore_optimizer(name, optimizer, tensors)
        if self.shortlist is not None:
            kept = _under("shortlist.", tensors)
            self.shortlist.strength, self.shortlist.violators = kept["strength"], kept["violators"]
        for name in _PROGRESS:
            setattr(self, name, facts[name])

    def _comparable_settings(self) -> dict[str, Any]:
        own = asdict(self.settings) | asdict(self.network.shape) | {"steps": self.steps}
        return {name: value for name, value in own.items() if name not in ("threads", "device")}


def new_network(
    rows: Rows, labels: sp.csr_matrix, settings: JointSettings, words: int | None, word_vectors: np.ndarray | None
) -> RankNetwork:
    if word_vectors is not None:
        words = len(word_vectors)
    if words is None:
        weighted = rows.rows if isinstance(rows, CodedRows) else rows
        if sp.issparse(weighted):
            words = weighted.shape[1]  # type: ignore[union-attr]
        else:
            words = 1 + max((int(tokens.max()) for tokens in weighted if len(tokens)), default=0)
    network = RankNetwork(settings.architecture(words, labels.shape[1]))
    vectors = None if word_vectors is None else torch.as_tensor(word_vectors, dtype=torch.float32)
    label_codes = None
    if settings.start == "cooccurrence":
        label_codes = torch.from_numpy(leading_vectors(labels, settings.code_size, settings.seed))
    deviations = {"word_deviation": settings.word_deviation, "given_deviation": settings.given_deviation}
    initialise(network, settings.seed, vectors, label_codes=label_codes, **deviations)
    if settings.loss == "bce" and settings.start == "cooccurrence":
        # The log-odds of each label: from biases of 0, BCE would spend its first epochs on bringing all labels down.
        share = (np.bincount(labels.indices, minlength=labels.shape[1]) + 0.5) / (labels.shape[0] + 1)
        network.D.label_bias.data.copy_(torch.from_numpy(np.log(share / (1 - share))))
    if 0 < settings.shortlist < labels.shape[1]:
        # Random vectors of labels that are seldom looked at would stay and rank labels by chance; labels that are never
        # looked at, having no row, start where the loss leaves negatives.
        if label_codes is None and not network.shape.tied:
            torch.nn.init.zeros_(network.D.label_vectors)
        absent = np.bincount(labels.indices, minlength=labels.shape[1]) == 0
        network.D.label_bias.data[torch.from_numpy(absent)] = -settings.margin
    return network


def _under(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}
