"""The stacker: combines every component's score of a shortlisted label, and the label's frequency, into one score.

How far a component's score can be trusted depends on the label's frequency and on the other scores: for a rare label,
rankers are over-confident, the code has no capacity, and neighbours may know it. The combination is therefore learnt: a
linear map plus a small ReLU layer, trained with binary cross-entropy on out-of-fold scores. Ranking by probability is
optimal for P@k at every k, so the score is the logit of the label's probability.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self

import numpy as np
import torch
from numba import njit

from rankae.components.stacker_descent import descend, split
from rankae.errors import ModelFileError
from rankae.numerics.shortlist import Shortlist
from rankae.numerics.threads import across_threads
from rankae.paper.schedule import learning_rate_factor

_LEAST_DEVIATION = np.float32(1e-4)  # inputs that vary less in training are not divided by their deviation
_IN_REGISTERS = 12  # columns that one pass over the hidden layer reads: as many as fit the processor's registers
_VERSION = 2  # of the evidence; version 1 had no `closest`
_BLOCK = 4096  # entries scored at a time, so that they stay in the cache


def columns(components: int) -> int:
    """Number of columns of the evidence: two for each component's score, the label's frequency, and two cosines."""
    return 2 * components + 3


def evidence(
    shortlist: Shortlist,
    candidates: list[np.ndarray],
    closest: np.ndarray,
    counts: np.ndarray,
    nearest: np.ndarray,
) -> np.ndarray:
    """The stacker's input for each entry of the shortlist.

    Columns: each component's score, and its difference to the row's best score; the label's log-frequency; and the
    cosine of the nearest training row, and of the nearest one with the label (`closest`), because components that
    memorise are right about near-duplicates of training rows and less so about other rows.
    """
    columns = []
    sizes = np.diff(shortlist.starts)
    filled = sizes > 0
    for scores in candidates:
        best = np.maximum.reduceat(scores, shortlist.starts[:-1][filled]) if len(scores) else scores
        columns += [scores, scores - np.repeat(best, sizes[filled])]
    columns.append(np.log1p(counts))
    columns += [np.repeat(nearest, sizes), closest]
    return np.stack(columns, axis=1).astype(np.float32, copy=False)


class Stacker:
    """score = a'u + c' relu(B u + b) + d, with u the evidence, standardised."""

    def __init__(self, weights: dict[str, np.ndarray]) -> None:
        self.weights = weights
        # Early models divide by tiny deviations: inputs that hardly varied in training become huge when they do vary,
        # and float32 has no digits left for the other inputs.
        digits = np.float32 if self.weights["deviation"].min() >= _LEAST_DEVIATION else np.float64
        typed: dict[str, Any] = {name: value.astype(digits) for name, value in self.weights.items()}
        hidden, width = typed["B"].shape
        B = np.zeros((max(width, _IN_REGISTERS), hidden), digits)
        B[:width] = typed["B"].T
        self._own = typed["mean"], 1 / typed["deviation"], typed["a"], B, typed["b"], typed["c"], digits(typed["d"])

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        return {"version": _VERSION}, self.weights

    @classmethod
    def from_state(cls, settings: dict[str, Any], arrays: dict[str, np.ndarray], inputs: Sequence[str]) -> Self:
        """inputs : names of the components whose scores it combines. Files of version 1 do not hold their version."""
        weights, width = {"d": np.zeros((), np.float32)} | arrays, columns(len(inputs))
        version = settings.get("version", 1 if len(arrays["a"]) == width - 1 else _VERSION)
        if version == 1:
            for name, value in {"mean": 0, "deviation": 1, "a": 0, "B": 0}.items():
                last = [(0, 0)] * (arrays[name].ndim - 1) + [(0, 1)]
                weights[name] = np.pad(arrays[name], last, constant_values=value)
        hidden = len(weights["b"])
        wanted = {"mean": (width,), "deviation": (width,), "a": (width,), "B": (hidden, width), "c": (hidden,), "d": ()}
        if version > _VERSION or any(weights[name].shape != shape for name, shape in wanted.items()):
            raise ModelFileError("the model's stacker and its components do not fit; train it again")
        return cls(weights)

    @classmethod
    def train(
        cls,
        shortlist: Shortlist,
        evidence: np.ndarray,
        gains: np.ndarray,
        *,
        members: int = 1,
        hidden: int = 64,
        most_steps: int = 1200,
        learning_rate: float = 1e-2,
        decay: float = 1e-3,
        batch: int = 64,
        seed: int = 0,
    ) -> Self:
        """Train on out-of-fold scores.

        Parameters
        ----------
        gains : weight of each entry: 0 if the row does not have the label, else 1, or more for labels to be favoured.
        members : number of stackers that are trained from different starts; their average is one with a wider layer.
        """
        mean, deviation = evidence.mean(0), evidence.std(0)
        deviation = np.where(deviation >= _LEAST_DEVIATION, deviation, 1)
        u = ((evidence - mean) / deviation).astype(np.float32)
        gains = gains.astype(np.float32)
        rows, width = len(shortlist), u.shape[1]
        share = float(np.clip((gains > 0).mean(), 1e-6, 1 - 1e-6)) if len(gains) else 0.5
        # Forty epochs for few rows, fewer epochs for many.
        steps = min(most_steps, -(-40 * rows // batch))
        rates = [learning_rate * learning_rate_factor(step, steps, warmup=0.2) for step in range(steps)]

        def learn(member: int) -> tuple[np.ndarray, ...]:
            rng = np.random.default_rng([seed, member])
            parameters = np.zeros(width * hidden + 2 * hidden + width + 1, dtype=np.float32)
            B, *_ = layers = split(parameters, width, hidden)
            B[:] = rng.standard_normal(B.shape, dtype=np.float32) * np.float32(width**-0.5)
            parameters[-1] = np.log(share / (1 - share))
            epochs = max(1, -(-steps * batch // max(1, rows)))
            order = np.concatenate([rng.permutation(rows) for _ in range(epochs)])
            limits = batch, np.array(rates, dtype=np.float32), np.float32(decay)
            descend(shortlist.starts, u, gains, order, *limits, parameters, hidden)
            return layers

        with ThreadPoolExecutor(torch.get_num_threads()) as pool:
            learnt = list(pool.map(learn, range(members)))
        B, b, c, a = (np.concatenate(own, axis=-1) for own in zip(*learnt, strict=True))
        linear = a.reshape(members, -1).mean(0)
        weights = {"mean": mean, "deviation": deviation, "a": linear[:-1], "d": linear[-1], "B": B.T, "b": b}
        weights["c"] = c / members
        return cls({name: np.asarray(value, dtype=np.float32) for name, value in weights.items()})

    def scores(self, evidence: np.ndarray) -> np.ndarray:
        w, out = self.weights, np.empty(len(evidence), dtype=np.float32)
        for first in range(0, len(out), _BLOCK):
            u = (evidence[first : first + _BLOCK] - w["mean"]) / w["deviation"]
            hidden = u @ w["B"].T
            hidden += w["b"]
            np.maximum(hidden, 0, out=hidden)
            out[first : first + _BLOCK] = u @ w["a"] + hidden @ w["c"] + w["d"]
        return out

    def score_shortlist(
        self,
        shortlist: Shortlist,
        candidates: list[np.ndarray],
        closest: np.ndarray,
        counts: np.ndarray,
        nearest: np.ndarray,
    ) -> np.ndarray:
        """`scores` of the `evidence` of these candidates, in one compiled loop that never builds the evidence."""
        out = np.empty(len(shortlist.columns), dtype=np.float32)
        frequency = np.log1p(counts, dtype=np.float32)
        asked = shortlist.starts, np.stack(candidates), closest, frequency, nearest
        across_threads(_score_rows, *asked, *self._own, out)
        return out


@njit(cache=True, nogil=True, fastmath=True)
def _score(u, a, B, b, c, d):
    """The score of one entry; the first dozen columns are kept in registers over the loop of hidden units."""
    total, zero = d, d - d
    for f in range(len(a)):
        total += a[f] * u[f]
    u0, u1, u2, u3, u4, u5, u6, u7, u8, u9, u10, u11 = (
        u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10],
        u[11],
    )  # fmt: skip
    B0, B1, B2, B3, B4, B5, B6, B7, B8, B9, B10, B11 = (
        B[0], B[1], B[2], B[3], B[4], B[5], B[6], B[7], B[8], B[9], B[10],
        B[11],
    )  # fmt: skip
    for j in range(len(b)):
        hidden = b[j] + B0[j] * u0 + B1[j] * u1 + B2[j] * u2 + B3[j] * u3 + B4[j] * u4 + B5[j] * u5
        hidden += B6[j] * u6 + B7[j] * u7 + B8[j] * u8 + B9[j] * u9 + B10[j] * u10 + B11[j] * u11
        total += c[j] * max(hidden, zero)
    return total


@njit(cache=True, nogil=True, fastmath=True)
def _with_more(u, B, b, h):
    """Write b plus the contribution of the columns beyond the first dozen to h."""
    h[:] = b
    for f in range(_IN_REGISTERS, len(B)):
        for j in range(len(h)):
            h[j] += B[f, j] * u[f]


@njit(cache=True, nogil=True, fastmath=True)
def _score_rows(first, last, starts, scores, closest, frequency, nearest, mean, units, a, B, b, c, d, out):
    components = len(scores)
    best, u, h = np.empty(components, np.float32), np.zeros(len(B), B.dtype), np.empty_like(b)
    for i in range(first, last):
        for p in range(components):
            best[p] = -np.inf
            for t in range(starts[i], starts[i + 1]):
                best[p] = max(best[p], scores[p, t])
        for t in range(starts[i], starts[i + 1]):
            for p in range(components):
                u[2 * p], u[2 * p + 1] = scores[p, t], scores[p, t] - best[p]
            u[2 * components], u[2 * components + 1], u[2 * components + 2] = frequency[t], nearest[i], closest[t]
            for f in range(len(a)):
                u[f] = (u[f] - mean[f]) * units[f]
            if len(B) > _IN_REGISTERS:
                _with_more(u, B, b, h)
                out[t] = _score(u, a, B, h, c, d)
            else:
                out[t] = _score(u, a, B, b, c, d)
