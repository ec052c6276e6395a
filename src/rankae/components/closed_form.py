"""The warm start as a component of the model: F(x) = x W with gates of 1, then D, tuned on leave-one-out codes.

    score = D(z + R(z)),    z = F(x),    R a small ReLU layer that starts at 0

D and R are trained by the smooth ranking loss on leave-one-out codes. On the codes that F gives its own training rows
there is nothing to learn: it ranks those almost perfectly already.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
import torch
from numba import njit
from torch import Tensor, nn

from rankae.components.predictions import CodePredictions
from rankae.errors import ModelFileError
from rankae.metrics import precisions
from rankae.numerics.inner_products import dot
from rankae.numerics.label_index import ExactIndex
from rankae.numerics.sparse_product import sparse_product
from rankae.paper.closed_form import WarmStart
from rankae.paper.losses.smooth_ranking import smooth_ranking_loss
from rankae.paper.schedule import learning_rate_factor
from rankae.progress import track

# Ridge scores lie within 0 and 1; a ranking loss wants them several units apart.
_TEMPERATURE = 12.0
_MOST_CHECKED = 2000  # rows on which epochs are compared
_FEW = 3  # codes for which a loop is faster than the calls that a matrix product takes


def _with_residual(codes: np.ndarray, W: np.ndarray, b: np.ndarray, U: np.ndarray) -> np.ndarray:
    """z + R(z), by torch, whose threads are the user's; numpy's library has threads of its own."""
    z = torch.from_numpy(codes)
    hidden = torch.addmm(torch.from_numpy(b), z, torch.from_numpy(W).T).relu_()
    return torch.addmm(z, hidden, torch.from_numpy(U).T).numpy()


@njit(cache=True, nogil=True)
def _with_residual_of_few(codes, W, b, U):
    out, hidden = np.empty_like(codes), np.empty_like(b)
    for i in range(len(codes)):
        for j in range(len(b)):
            hidden[j] = max(dot(codes[i], W[j]) + b[j], np.float32(0))
        for c in range(len(U)):
            out[i, c] = codes[i, c] + dot(hidden, U[c])
    return out


class ClosedForm:
    """A word table W [V, h], a label table [L, h], biases [L], and the residual layer's arrays, if it has one.

    common : columns, ascending, of the labels that it proposes; None for all. A code of a few hundred numbers has no
        room for labels that a handful of rows carry; neighbours find those.
    """

    name = "code"

    def __init__(
        self,
        word_table: np.ndarray,
        label_table: np.ndarray,
        bias: np.ndarray,
        residual: dict[str, np.ndarray],
        common: np.ndarray | None = None,
    ) -> None:
        self.word_table, self.label_table, self.bias, self.residual = word_table, label_table, bias, residual
        self.common = common
        self.index = ExactIndex(label_table, bias, common)

    @classmethod
    def untouched(cls, start: WarmStart, common: np.ndarray | None = None) -> Self:
        """The ridge solution, as it came out of the solver."""
        bias = np.zeros(len(start.label_table), dtype=np.float32)
        return cls(start.word_table, start.label_table, bias, {}, common)

    @property
    def shape(self) -> tuple[int, int]:
        """Words and labels that it knows."""
        return len(self.word_table), len(self.label_table)

    def predict(self, rows: sp.csr_matrix) -> CodePredictions:
        return self.predict_codes(self.linear_codes(rows))

    def linear_codes(self, rows: sp.csr_matrix) -> np.ndarray:
        """z = x W."""
        return sparse_product(rows, self.word_table)

    def predict_codes(self, codes: np.ndarray) -> CodePredictions:
        if self.residual:
            W, b, U = (self.residual[name] for name in ("in", "in_bias", "out"))
            codes = _with_residual_of_few(codes, W, b, U) if len(codes) <= _FEW else _with_residual(codes, W, b, U)
        return CodePredictions(codes, self.label_table, self.bias, self.index)

    def tuned(
        self,
        loo_codes: np.ndarray,
        labels: sp.csr_matrix,
        *,
        check: np.ndarray | None = None,
        epochs: int = 10,
        hidden: int = 300,
        seed: int = 0,
    ) -> ClosedForm:
        """Train D and R on leave-one-out codes; the untouched start is returned if no epoch ranks held-out rows better.

        A step looks at the labels that the component proposes: all of them, or the common ones.

        check : places of the rows that are held out; by default an eighth.
        """
        if check is None:
            order = np.random.default_rng(seed).permutation(len(loo_codes))
            check = order[: min(len(loo_codes) // 8, _MOST_CHECKED)]
        if len(check) == 0:
            return self
        learn = np.setdiff1d(np.arange(len(loo_codes)), check)
        check = check[:_MOST_CHECKED]
        best, merit = self, _merit(self, loo_codes[check], labels[check])
        for now in self._epochs(loo_codes, labels, learn, epochs, hidden, seed):
            if (found := _merit(now, loo_codes[check], labels[check])) > merit:
                best, merit = now, found
        return best

    @staticmethod
    def tuned_alike(
        components: Sequence[ClosedForm],
        codes: Sequence[np.ndarray],
        labels: sp.csr_matrix,
        folds: Sequence[np.ndarray],
        *,
        epochs: int = 10,
        hidden: int = 300,
        seed: int = 0,
    ) -> Sequence[ClosedForm]:
        """Stack tuned without each fold, and at last one tuned on all rows.

        All stop after the same epoch, the one that ranks held-out rows best over all folds: scores without a fold
        must be of the kind that the last component will give. To keep every epoch's D of every fold would take too
        much memory, so the descent is run again up to that epoch.

        components, codes : without each fold, and at last with all rows.
        """
        merits = np.zeros(epochs + 1)
        every = np.arange(labels.shape[0])
        learnt = [np.setdiff1d(every, fold) for fold in folds] + [every]
        how = epochs, hidden, seed
        for component, own, learn, fold in zip(components, codes, learnt, folds, strict=False):
            asked = own[fold], labels[fold]
            merits[0] += len(fold) * _merit(component, *asked)
            for e, now in enumerate(component._epochs(own, labels, learn, *how), 1):
                merits[e] += len(fold) * _merit(now, *asked)
        best = int(merits.argmax())
        if best == 0:
            return components
        return [
            next(islice(component._epochs(own, labels, learn, *how), best - 1, None))
            for component, own, learn in zip(components, codes, learnt, strict=True)
        ]

    def _epochs(
        self, loo_codes: np.ndarray, labels: sp.csr_matrix, learn: np.ndarray, epochs: int, hidden: int, seed: int
    ) -> Iterator[ClosedForm]:
        """The component after each epoch of tuning on the rows `learn` (places)."""
        rng = np.random.default_rng(seed)
        columns = np.arange(labels.shape[1]) if self.common is None else self.common
        model = _TunedDecoder(self, columns, hidden, float(np.linalg.norm(loo_codes, axis=1).mean()), seed)
        optimizer = model.optimizer()
        rates = [group["lr"] for group in optimizer.param_groups]
        batch = 256
        step, steps = 0, epochs * -(-len(learn) // batch)
        codes, seen = torch.from_numpy(loo_codes), labels[:, columns]
        for _ in track(range(epochs), "tuning the decoder on leave-one-out codes"):
            for places in np.array_split(rng.permutation(learn), -(-len(learn) // batch)):
                for group, rate in zip(optimizer.param_groups, rates, strict=True):
                    group["lr"] = rate * learning_rate_factor(step, steps, warmup=0.1)
                optimizer.zero_grad()
                smooth_ranking_loss(model(codes[places]), torch.from_numpy(seen[places].toarray())).backward()
                optimizer.step()
                step += 1
            yield model.component(self)

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        arrays = {"word_table": self.word_table, "label_table": self.label_table, "bias": self.bias}
        arrays |= {} if self.common is None else {"common": self.common}
        return {}, arrays | {f"residual_{name}": value for name, value in self.residual.items()}

    @classmethod
    def from_state(cls, settings: dict[str, Any], arrays: dict[str, np.ndarray]) -> Self:
        residual = {n.removeprefix("residual_"): v for n, v in arrays.items() if n.startswith("residual_")}
        common, known = arrays.get("common"), len(arrays["label_table"])
        if common is not None and not (np.diff(common, prepend=-1, append=known) > 0).all():
            raise ModelFileError("the labels that the model's code proposes contradict themselves; train it again")
        return cls(arrays["word_table"], arrays["label_table"], arrays["bias"], residual, common)


class _TunedDecoder(nn.Module):
    """D, as far as it concerns the labels of some columns, and R while they learn; the temperature scales scores."""

    def __init__(self, start: ClosedForm, columns: np.ndarray, hidden: int, code_norm: float, seed: int) -> None:
        super().__init__()
        self.columns = columns
        generator, self.rng = torch.Generator().manual_seed(seed), np.random.default_rng(seed)
        h = start.label_table.shape[1]
        # Codes are short; their mean length is taken out so that the layer starts at a fair scale.
        scale = 3 / max(code_norm, 1e-6)
        self.table = nn.Parameter(torch.from_numpy(start.label_table[columns] * np.float32(_TEMPERATURE)))
        self.bias = nn.Parameter(torch.zeros(len(columns)))
        self.W = nn.Parameter(torch.randn(hidden, h, generator=generator) * (scale * h**-0.5))
        self.b = nn.Parameter(torch.zeros(hidden))
        self.U = nn.Parameter(torch.zeros(h, hidden))

    def optimizer(self) -> torch.optim.Optimizer:
        decoder = {"params": [self.table, self.bias], "lr": 1e-3 * _TEMPERATURE}
        residual = {"params": [self.W, self.b, self.U], "lr": 1e-3}
        return torch.optim.AdamW([decoder, residual], weight_decay=0.0, fused=True)

    def forward(self, z: Tensor) -> Tensor:
        hidden = torch.relu(torch.addmm(self.b, z, self.W.T))
        # Dropout of one half by random bits: torch would draw a number for each unit, which takes as long as the rest.
        bits = np.frombuffer(self.rng.bytes(-(-hidden.numel() // 8)), dtype=np.uint8)
        kept = np.unpackbits(bits, count=hidden.numel()).reshape(hidden.shape)
        hidden = hidden * (2 * torch.from_numpy(kept))
        return torch.addmm(self.bias, z + hidden @ self.U.T, self.table.T)

    def component(self, start: ClosedForm) -> ClosedForm:
        arrays = {name: value.detach().numpy().copy() for name, value in self.named_parameters()}
        residual = {"in": arrays["W"], "in_bias": arrays["b"], "out": arrays["U"]}
        scale = np.float32(1 / _TEMPERATURE)
        table, bias = start.label_table.copy(), start.bias.copy()
        table[self.columns], bias[self.columns] = arrays["table"] * scale, arrays["bias"] * scale
        return ClosedForm(start.word_table, table, bias, residual, start.common)


def _merit(component: ClosedForm, codes: np.ndarray, labels: sp.csr_matrix) -> float:
    return sum(precisions(component.predict_codes(codes).propose(5), labels).values())
