"""The closed-form start as a component: F(x) = x W with gates of 1, and D, which may be tuned.

    score = D(z + R(z)),    z = F(x),    R a small ReLU layer that starts at 0

D and R are tuned with the smooth ranking loss on leave-one-out codes. The codes that F gives its own training rows
would be useless for that, because they rank the training labels almost perfectly.
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

# Ridge scores lie between 0 and 1; the ranking loss needs differences of several units.
_TEMPERATURE = 12.0
_MOST_CHECKED = 2000  # validation rows that choose the epoch
_FEW = 3  # up to so many codes, a loop is faster than the overhead of a matrix product


def _with_residual(codes: np.ndarray, W: np.ndarray, b: np.ndarray, U: np.ndarray) -> np.ndarray:
    """z + R(z) in torch, which keeps to the user's number of threads; numpy's BLAS has threads of its own."""
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
    """A word table W [V, h], a label table [L, h], biases [L], and the arrays of the residual layer, if there is one.

    common : ascending columns of the labels that it proposes; None for all. A code of a few hundred dimensions cannot
        represent labels with a handful of rows; the neighbours propose those.
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
        """The untuned ridge solution."""
        bias = np.zeros(len(start.label_table), dtype=np.float32)
        return cls(start.word_table, start.label_table, bias, {}, common)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of words and of labels."""
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
        """Train D and R on leave-one-out codes; returns `self` if no epoch ranks the held-out rows better.

        Only the labels that the component proposes are tuned.

        check : indices of the held-out rows; by default an eighth of the rows.
        """
        if check is None:
            order = np.random.default_rng(seed).permutation(len(loo_codes))
            check = order[: min(len(loo_codes) // 8, _MOST_CHECKED)]
        if len(check) == 0:
            return self
        learn = np.setdiff1d(np.arange(len(loo_codes)), check)
        check = check[:_MOST_CHECKED]
        best, best_merit = self, _merit(self, loo_codes[check], labels[check])
        for component in self._epochs(loo_codes, labels, learn, epochs, hidden, seed):
            if (now_merit := _merit(component, loo_codes[check], labels[check])) > best_merit:
                best, best_merit = component, now_merit
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
        """Components tuned without each fold, and last one tuned on all rows.

        All stop after the same epoch, the one with the best precision over all held-out folds, so that the out-of-fold
        scores are distributed like those of the last component. Storing D of every epoch and fold would take too much
        memory, so tuning is run again up to that epoch.

        components, codes : fitted without each fold, and last on all rows.
        """
        merits = np.zeros(epochs + 1)
        every = np.arange(labels.shape[0])
        learnt = [np.setdiff1d(every, fold) for fold in folds] + [every]
        options = epochs, hidden, seed
        for component, fold_codes, learn, fold in zip(components, codes, learnt, folds, strict=False):
            held_out = fold_codes[fold], labels[fold]
            merits[0] += len(fold) * _merit(component, *held_out)
            for e, tuned in enumerate(component._epochs(fold_codes, labels, learn, *options), 1):
                merits[e] += len(fold) * _merit(tuned, *held_out)
        best = int(merits.argmax())
        if best == 0:
            return components
        return [
            next(islice(component._epochs(fold_codes, labels, learn, *options), best - 1, None))
            for component, fold_codes, learn in zip(components, codes, learnt, strict=True)
        ]

    def _epochs(
        self, loo_codes: np.ndarray, labels: sp.csr_matrix, learn: np.ndarray, epochs: int, hidden: int, seed: int
    ) -> Iterator[ClosedForm]:
        """The component after each epoch of tuning on the rows `learn` (indices)."""
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
        common, label_count = arrays.get("common"), len(arrays["label_table"])
        if common is not None and not (np.diff(common, prepend=-1, append=label_count) > 0).all():
            raise ModelFileError("the labels that the model's code proposes are inconsistent; train it again")
        return cls(arrays["word_table"], arrays["label_table"], arrays["bias"], residual, common)


class _TunedDecoder(nn.Module):
    """The trainable rows of D (those of `columns`) and R; scores are scaled by the temperature."""

    def __init__(self, start: ClosedForm, columns: np.ndarray, hidden: int, code_norm: float, seed: int) -> None:
        super().__init__()
        self.columns = columns
        generator, self.rng = torch.Generator().manual_seed(seed), np.random.default_rng(seed)
        h = start.label_table.shape[1]
        # Normalises the codes, which are short, to a mean length of 3.
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
        # Dropout of one half by random bits: torch draws a float for each unit, which would double the time of a step.
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
