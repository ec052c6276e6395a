"""The paper's training on several processes (torchrun): label parallel, data parallel, or both.

Label parallel: each process has the rows of E and D of some labels; F and the small layers are replicated.

    code E(y)        partial sums over a row's labels are summed over processes
    L_P, L_N         need each row's lowest positive and highest negative score: one all-reduce of two numbers per row,
                     and one of the numbers of violators, which the gradients of these two labels need
    gradient of z    summed over processes, so that the replicated parameters stay equal

Nothing of the size of the label set is ever sent. Data parallel: groups of processes train on different rows and
average their gradients. The same seed and number of shards give the same model; another number of label shards gives
the same model up to the rounding of sums.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
import torch.distributed as dist
from torch import Tensor

from rankae.errors import OtherRank, RankaeError
from rankae.model_file.checkpoint import Checkpoint, read_checkpoint, write_checkpoint
from rankae.numerics.threads import limited_to
from rankae.paper.bags import Bags
from rankae.paper.joint import JointTraining, new_network
from rankae.paper.kernels import take_rows, weighted_sum
from rankae.paper.label_encoder import LabelEncoder
from rankae.paper.losses import common_embedding_loss
from rankae.paper.rank_network import Batch, RankNetwork, Rows, select_rows
from rankae.paper.settings import JointSettings
from rankae.progress import bar

_TABLES = ("E.label_vectors", "D.label_vectors", "D.label_bias")  # a row for each label
LABEL_SHARDS = "RANKAE_LABEL_SHARDS"  # environment variable: number of processes that share the labels; by default all


def join() -> None:
    """Join the process group of the processes that torchrun has started."""
    backend = "nccl" if torch.cuda.is_available() else "gloo"
    attempt = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
    if attempt == "0":
        dist.init_process_group(backend)
        return
    # torchrun's store survives a restart, with the addresses of dead processes, so keys get a new prefix.
    world, rank = int(os.environ["WORLD_SIZE"]), int(os.environ["RANK"])
    of_agent = os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True"
    address = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
    store = dist.TCPStore(*address, world, is_master=rank == 0 and not of_agent)
    dist.init_process_group(backend, store=dist.PrefixStore(f"rankae-{attempt}", store), rank=rank, world_size=world)


def is_running() -> bool:
    """Whether this process is one of several that train together."""
    return dist.is_available() and dist.is_initialized() and dist.get_world_size() > 1


class Ranks:
    """The process groups that share labels and those that share rows: rank = data group * label shards + label
    shard."""

    def __init__(self, label_shards: int) -> None:
        world, rank = dist.get_world_size(), dist.get_rank()
        if label_shards < 1 or world % label_shards:
            raise RankaeError(f"{world} processes cannot be cut into groups of {label_shards} label shards")
        self.label_shards, self.data_groups = label_shards, world // label_shards
        self.label_rank, self.data_rank = rank % label_shards, rank // label_shards
        for group in range(self.data_groups):
            process_group = dist.new_group([group * label_shards + i for i in range(label_shards)])
            self.labels = process_group if group == self.data_rank else getattr(self, "labels", None)
        for shard in range(label_shards):
            process_group = dist.new_group([group * label_shards + shard for group in range(self.data_groups)])
            self.rows = process_group if shard == self.label_rank else getattr(self, "rows", None)

    def labels_of(self, shard: int, labels: int) -> slice:
        return slice(labels * shard // self.label_shards, labels * (shard + 1) // self.label_shards)


def train_on_ranks(
    rows: Rows,
    labels: sp.csr_matrix,
    settings: JointSettings,
    *,
    words: int | None = None,
    word_vectors: np.ndarray | None = None,
    network: RankNetwork | None = None,
    checkpoint_dir: str | Path | None = None,
    resume: bool = False,
) -> RankNetwork:
    """As `train_joint`, on all processes; the first one returns the network, the others raise `OtherRank`.

    Every process writes its own checkpoints; a run resumes from the last epoch that all processes have finished.
    """
    _check(settings, labels)
    ranks = Ranks(int(os.environ.get(LABEL_SHARDS, dist.get_world_size())))
    if labels.shape[1] < ranks.label_shards:
        raise RankaeError(f"{labels.shape[1]} labels are fewer than {ranks.label_shards} shards; start fewer processes")
    with limited_to(settings.threads):
        whole = new_network(rows, labels, settings, words, word_vectors) if network is None else network
        label_span = ranks.labels_of(ranks.label_rank, labels.shape[1])
        part = np.arange(ranks.data_rank, labels.shape[0], ranks.data_groups)
        if len(part) < -(-labels.shape[0] // ranks.data_groups):  # as many steps everywhere
            part = np.append(part, ranks.data_rank - 1)
        rows, labels = select_rows(rows, part), labels[part][:, label_span]
        settings = replace(settings, batch=max(1, settings.batch // ranks.data_groups))
        run = ShardedTraining(_cut(whole, label_span), settings, -(-labels.shape[0] // settings.batch), ranks)
        shape, folder = whole.shape, _common_folder(checkpoint_dir)
        del whole
        places = [folder / f"rank-{dist.get_rank()}" / kind for kind in ("even", "odd")]
        if resume:
            run.restore(_agreed(places))
        with bar("epochs", settings.epochs) as progress:
            progress.advance(run.epoch)
            while not run.finished:
                figures = run.epoch_over(rows, labels)
                write_checkpoint(places[run.epoch % 2], run.checkpoint())
                progress.advance(loss=figures["loss"])
        write_checkpoint(places[0].parent / "last", Checkpoint(dict(run.network.state_dict()), {}))
        dist.barrier()
        if dist.get_rank():
            raise OtherRank
        return _joined(shape, folder, ranks, run.history)


class ShardedTraining(JointTraining):
    """A training run on a shard of the labels, of the rows, or of both."""

    def __init__(self, network: RankNetwork, settings: JointSettings, steps_per_epoch: int, ranks: Ranks) -> None:
        super().__init__(network, settings, steps_per_epoch)
        self.ranks = ranks

    def losses(self, x: Batch, y: Bags) -> dict[str, Tensor]:
        x_h, y_h = self.network.F(x), self._encoded(self.network.E, y)
        D, group = self.network.D, self.ranks.labels
        hidden = _SumOfGradients.apply(D.hidden(y_h), group)
        ranking = _RankingAcross.apply(hidden, D.label_vectors, D.label_bias, y, self.settings.margin, group)
        parts = {"L_h": common_embedding_loss(x_h, y_h), "L_ae": self.settings.balance * ranking}
        if self.settings.direct:
            hidden = _SumOfGradients.apply(self.settings.temperature * D.hidden(x_h), group)
            biases = self.settings.temperature * D.label_bias
            parts["direct"] = self.settings.direct * _SmoothAcross.apply(hidden, D.label_vectors, biases, y, group)
        return parts

    def _encoded(self, E: LabelEncoder, y: Bags) -> Tensor:
        partial_sum = weighted_sum(take_rows(E.label_vectors, y.distinct), y)
        return E.FC2(E.act(_Sum.apply(partial_sum, self.ranks.labels) + E.bias))

    def gradients_are_there(self) -> None:
        """Average gradients over the processes with the same labels and other rows."""
        if self.ranks.data_groups == 1:
            return
        for parameter in self.network.parameters():
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
            sparse = parameter.grad.is_sparse
            dense = parameter.grad.to_dense() if sparse else parameter.grad
            dist.all_reduce(dense, group=self.ranks.rows)
            dense /= self.ranks.data_groups
            if sparse:
                touched = dense.any(1).nonzero()[:, 0]
                dense = torch.sparse_coo_tensor(touched[None], dense[touched], dense.shape).coalesce()
            parameter.grad = dense


class _Sum(torch.autograd.Function):
    """Sum over processes; everything after it is replicated, and so is its gradient."""

    @staticmethod
    def forward(ctx: Any, partial_sum: Tensor, group: Any) -> Tensor:
        total = partial_sum.clone()
        dist.all_reduce(total, group=group)
        return total

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:  # type: ignore[override]
        return grad, None


class _SumOfGradients(torch.autograd.Function):
    """Identity, whose gradient is summed over processes."""

    @staticmethod
    def forward(ctx: Any, z: Tensor, group: Any) -> Tensor:
        ctx.group = group
        return z.clone()

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:  # type: ignore[override]
        total = grad.clone()
        dist.all_reduce(total, group=ctx.group)
        return total, None


class _RankingAcross(torch.autograd.Function):
    """`ranking_loss` over labels that are sharded over processes, with its closed-form gradient."""

    @staticmethod
    def forward(ctx: Any, z: Tensor, table: Tensor, bias: Tensor, y: Bags, margin: float, group: Any) -> Tensor:
        scores, positive = torch.addmm(bias, z, table.T), y.dense(len(bias)).bool()
        low = scores.masked_fill(~positive, torch.inf).amin(1)
        high = scores.masked_fill(positive, -torch.inf).amax(1)
        extremes = torch.stack([-low, high])
        dist.all_reduce(extremes, dist.ReduceOp.MAX, group=group)
        low, high = -extremes[0, :, None], extremes[1, :, None]
        ranked = low.isfinite() & high.isfinite()  # a row without positives, or without negatives, has nothing to rank
        above, below = margin + scores - low, margin + high - scores
        wrong_n, wrong_p = (above > 0) & ~positive & ranked, (below > 0) & positive & ranked
        lowest, highest = positive & (scores == low), ~positive & (scores == high)
        loss = (above * wrong_n).nan_to_num().sum(1) + (below * wrong_p).nan_to_num().sum(1)
        totals = torch.stack([counts.sum(1).to(loss.dtype) for counts in (wrong_n, wrong_p, lowest, highest)] + [loss])
        dist.all_reduce(totals, group=group)
        negatives, positives, lows, highs = (counts[:, None] for counts in totals[:4])
        # Every violating negative pushes the lowest positive up, every violating positive pushes the highest negative
        # down.
        pull = wrong_n.to(z.dtype) - wrong_p.to(z.dtype)
        pull -= lowest * (negatives / lows.clamp(min=1)) * ranked
        pull += highest * (positives / highs.clamp(min=1)) * ranked
        pull /= max(1, len(z))
        ctx.save_for_backward(pull @ table, pull.T @ z, pull.sum(0))
        return totals[4].sum() / max(1, len(z))

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        return *(grad * saved for saved in ctx.saved_tensors), None, None, None


class _SmoothAcross(torch.autograd.Function):
    """`smooth_ranking_loss` of labels that are spread over processes, and its closed-form gradient."""

    @staticmethod
    def forward(ctx: Any, z: Tensor, table: Tensor, bias: Tensor, y: Bags, group: Any) -> Tensor:
        scores, positive = torch.addmm(bias, z, table.T), y.dense(len(bias)).bool()
        negatives = scores.masked_fill(positive, -torch.inf)
        high = negatives.amax(1)
        dist.all_reduce(high, dist.ReduceOp.MAX, group=group)
        high.clamp_(min=-1e30)  # of a row without negatives, which has nothing to rank
        total = (negatives - high[:, None]).exp().sum(1)
        dist.all_reduce(total, group=group)
        rival = (high + total.log()).clamp(min=-1e30)[:, None]
        pull = torch.sigmoid(rival - scores) * positive
        found = torch.stack([pull.sum(1), (torch.nn.functional.softplus(rival - scores) * positive).sum(1)])
        dist.all_reduce(found, group=group)
        pulled, loss = found[0, :, None], found[1]
        gradient = ((negatives - rival).exp() * pulled - pull) / max(1, len(z))
        ctx.save_for_backward(gradient @ table, gradient.T @ z, gradient.sum(0))
        return loss.sum() / max(1, len(z))

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        return *(grad * saved for saved in ctx.saved_tensors), None, None


def _check(settings: JointSettings, labels: sp.csr_matrix) -> None:
    if settings.loss != "ranking" or settings.scores != "linear" or settings.shortlist:
        raise RankaeError(
            "several processes train the ranking loss with linear scores: leave out loss, scores and shortlist"
        )
    if settings.word_encoder != "bag":
        raise RankaeError("several processes train bags of words: leave out words='bilstm'")


def _cut(network: RankNetwork, label_span: slice) -> RankNetwork:
    """The network restricted to the labels of one shard."""
    state = {
        name: value[label_span].clone() if name in _TABLES else value for name, value in network.state_dict().items()
    }
    part = RankNetwork(replace(network.shape, labels=label_span.stop - label_span.start))
    part.load_state_dict(state)
    return part


def _joined(shape: Any, folder: Path, ranks: Ranks, history: list[dict[str, Any]]) -> RankNetwork:
    """The whole network, joined from the files of all label shards."""
    network = RankNetwork(shape)
    state = network.state_dict()
    for shard in range(ranks.label_shards):
        checkpoint = read_checkpoint(folder / f"rank-{shard}" / "last")
        assert checkpoint is not None
        for name, value in checkpoint.tensors.items():
            if name in _TABLES:
                state[name][ranks.labels_of(shard, shape.labels)] = value
            elif shard == 0:
                state[name].copy_(value)
    network.load_state_dict(state)
    network.history = history
    return network.eval()


def _common_folder(checkpoint_dir: str | Path | None) -> Path:
    """The first process's checkpoint folder (or a temporary one), which all processes must be able to reach."""
    from tempfile import mkdtemp

    broadcast: list[Any] = [None]
    if dist.get_rank() == 0:
        broadcast = [str(Path(checkpoint_dir or mkdtemp(prefix="rankae-ranks-")).resolve())]
    dist.broadcast_object_list(broadcast, src=0)
    return Path(broadcast[0])


def _agreed(places: list[Path]) -> Checkpoint | None:
    """This process's checkpoint of the last epoch that all processes have finished."""
    by_epoch = {
        checkpoint.facts["epoch"]: checkpoint for place in places if (checkpoint := read_checkpoint(place)) is not None
    }
    epoch = torch.tensor(max(by_epoch, default=0))
    dist.all_reduce(epoch, dist.ReduceOp.MIN)
    if not int(epoch):
        return None
    if int(epoch) not in by_epoch:
        raise RankaeError(
            f"the checkpoint of epoch {int(epoch)} is missing in {places[0].parent}; train from the start"
        )
    return by_epoch[int(epoch)]
