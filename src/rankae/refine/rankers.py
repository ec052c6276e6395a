"""One linear SVM a label, trained only on the rows whose shortlist names it: the negatives that are hard to tell apart.

Each is an L2-regularised, squared-hinge SVM solved in the dual by coordinate descent. A label costs the words of the
rows in its list, so all labels together cost rows x shortlist x words a pass, whatever the number of labels.
"""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
import torch
from numba import njit

from rankae.model_file import pack_csr, unpack_csr
from rankae.network.kernels.threads import across_threads
from rankae.refine.shortlist import Shortlist

_SHRINK_ABOVE = np.float32(0.3)  # a row outside the margin by this much is set aside until the others have settled
_SEARCH = 6  # a weight vector this many times longer than the row is searched, not read through


@njit(cache=True, nogil=True, fastmath=True)
def _dot(w, words, weights, start, stop):
    total = np.float32(0)
    for t in range(start, stop):
        total += w[words[t]] * weights[t]
    return total


@njit(cache=True, nogil=True, fastmath=True)
def _solve(rows, signs, row_starts, words, weights, lengths, w, bias_place, cost, passes, tolerance, alpha):
    """Dual coordinate descent on one label; leaves the weights in `w` (its last place is the bias)."""
    size = len(rows)
    order, active = np.arange(size), size
    diagonal = np.float32(0.5) / cost
    for round_ in range(passes):
        worst = np.float32(0)
        for a in range(active):
            b = a + np.random.randint(active - a)
            order[a], order[b] = order[b], order[a]
        a = 0
        while a < active:
            i = order[a]
            row, sign = rows[i], signs[i]
            start, stop = row_starts[row], row_starts[row + 1]
            gradient = sign * (_dot(w, words, weights, start, stop) + w[bias_place]) - 1 + diagonal * alpha[i]
            if alpha[i] == 0 and gradient >= 0:
                if gradient > _SHRINK_ABOVE and round_ > 0:
                    active -= 1
                    order[a], order[active] = order[active], order[a]
                    continue
                a += 1
                continue
            worst = max(worst, abs(gradient))
            new = max(alpha[i] - gradient / (lengths[row] + 1 + diagonal), np.float32(0))
            change = (new - alpha[i]) * sign
            alpha[i] = new
            if change != 0:
                for t in range(start, stop):
                    w[words[t]] += change * weights[t]
                w[bias_place] += change
            a += 1
        if worst < tolerance:
            if active == size:
                break
            active = size


@njit(cache=True, nogil=True)
def _train(first, last, starts, rows, signs, row_starts, words, weights, lengths, w, cost, passes, tolerance, least,
           old_starts, old_words, old_weights, counts, biases, seed):  # fmt: skip
    """Solve the labels first:last; returns the words and weights of their vectors, one after the other.

    Weights start from, and are drawn to, the old ones: those are 0 when there is nothing to go on from.
    """
    vocabulary = len(w) - 1
    room, used = 1024, 0
    found_words, found_weights = np.empty(room, np.int32), np.empty(room, np.float32)
    for label in range(first, last):
        begin, end = starts[label], starts[label + 1]
        np.random.seed(seed + label)
        alpha = np.zeros(end - begin, np.float32)
        for t in range(old_starts[label], old_starts[label + 1]):
            w[old_words[t]] = old_weights[t]
        w[vocabulary] = biases[label]
        _solve(rows[begin:end], signs[begin:end], row_starts, words, weights, lengths, w, vocabulary,
               cost, passes, tolerance, alpha)  # fmt: skip
        before = used
        for i in range(begin, end):
            if alpha[i - begin] == 0:
                continue
            for t in range(row_starts[rows[i]], row_starts[rows[i] + 1]):
                word = words[t]
                if abs(w[word]) >= least:
                    if used == room:
                        room *= 2
                        found_words = np.concatenate((found_words, found_words))
                        found_weights = np.concatenate((found_weights, found_weights))
                    found_words[used], found_weights[used] = word, w[word]
                    used += 1
                w[word] = 0
        for t in range(old_starts[label], old_starts[label + 1]):
            word = old_words[t]
            if w[word] != 0:
                if used == room:
                    room *= 2
                    found_words = np.concatenate((found_words, found_words))
                    found_weights = np.concatenate((found_weights, found_weights))
                found_words[used], found_weights[used] = word, w[word]
                used += 1
                w[word] = 0
        order = np.argsort(found_words[before:used])
        found_words[before:used] = found_words[before:used][order]
        found_weights[before:used] = found_weights[before:used][order]
        biases[label], w[vocabulary] = w[vocabulary], 0
        counts[label] = used - before
    return found_words[:used].copy(), found_weights[:used].copy()


@njit(cache=True, nogil=True, fastmath=True)
def _judge(
    first, last, starts, columns, row_starts, words, weights, w_starts, w_words, w_weights, biases, scratch, out
):
    """Scores of shortlisted labels: short weight vectors are read against the spread-out row, long ones searched."""
    spread = np.zeros(scratch, np.float32)
    for i in range(first, last):
        row_from, row_to = row_starts[i], row_starts[i + 1]
        for t in range(row_from, row_to):
            spread[words[t]] = weights[t]
        for s in range(starts[i], starts[i + 1]):
            label = columns[s]
            begin, end = w_starts[label], w_starts[label + 1]
            total = biases[label]
            if end - begin <= _SEARCH * (row_to - row_from):
                for t in range(begin, end):
                    total += w_weights[t] * spread[w_words[t]]
            else:
                low = begin
                for t in range(row_from, row_to):  # both are sorted, so each search starts where the last one ended
                    word, high = words[t], end
                    while low < high:
                        middle = (low + high) // 2
                        if w_words[middle] < word:
                            low = middle + 1
                        else:
                            high = middle
                    if low < end and w_words[low] == word:
                        total += w_weights[low] * weights[t]
            out[s] = total
        for t in range(row_from, row_to):
            spread[words[t]] = 0


class Rankers:
    """A sparse weight vector and a bias for each label.

    weights : CSR, labels x words; weights under `least` in size are dropped.
    """

    name = "rankers"

    def __init__(self, weights: sp.csr_matrix, biases: np.ndarray) -> None:
        self.weights, self.biases = weights, biases

    @classmethod
    def train(
        cls,
        rows: sp.csr_matrix,
        labels: sp.csr_matrix,
        shortlist: Shortlist,
        *,
        cost: float = 1.0,
        least: float = 0.02,
        passes: int = 20,
        tolerance: float = 0.1,
        seed: int = 0,
        start: Rankers | None = None,
    ) -> Self:
        """Learn each label from the rows that carry it and the rows whose (honest) shortlist names it.

        Parameters
        ----------
        cost : C of the SVM, the price of a row within the margin.
        least : weights smaller than this are dropped.
        start : rankers to go on from; their weights take the place of 0 as what the new ones are drawn to.
        """
        ones = np.ones(len(shortlist.columns), dtype=np.float32)
        # 1 for a listed label, 3 for a carried one, 4 for both: one sparse sum tells the sides apart.
        sides = (shortlist.matrix(ones, labels.shape[1]) + 3 * labels).tocsc()
        signs = np.where(sides.data > 2, np.float32(1), np.float32(-1))
        starts = sides.indptr.astype(np.int64)
        lengths = np.asarray(rows.multiply(rows).sum(1), dtype=np.float32).ravel()
        counts = np.zeros(labels.shape[1], np.int64)
        nothing = sp.csr_matrix((labels.shape[1], rows.shape[1]), dtype=np.float32)
        old = nothing if start is None else start.weights
        biases = np.zeros(labels.shape[1], np.float32) if start is None else start.biases.copy()
        data = starts, sides.indices, signs, rows.indptr.astype(np.int64), rows.indices, rows.data, lengths
        limits = np.float32(cost), passes, np.float32(tolerance), np.float32(least)
        before = old.indptr.astype(np.int64), old.indices.astype(np.int32, copy=False), old.data

        def train_span(span: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
            w = np.zeros(rows.shape[1] + 1, np.float32)
            return _train(*span, *data, w, *limits, *before, counts, biases, seed)

        with ThreadPoolExecutor(torch.get_num_threads()) as pool:
            found = list(pool.map(train_span, _spans(starts)))
        words, weights = (np.concatenate(part) for part in zip(*found, strict=True))
        ends = np.concatenate([[0], np.cumsum(counts)])
        return cls(sp.csr_matrix((weights, words, ends), shape=(labels.shape[1], rows.shape[1])), biases)

    def updated(self, rows: sp.csr_matrix, labels: sp.csr_matrix, shortlist: Shortlist, seed: int = 0) -> Rankers:
        """Rankers that have seen some more rows."""
        return Rankers.train(rows, labels, shortlist, seed=seed, start=self)

    def scores(self, rows: sp.csr_matrix, shortlist: Shortlist) -> np.ndarray:
        """The margin of each shortlisted label; `rows` have sorted words."""
        out = np.empty(len(shortlist.columns), dtype=np.float32)
        w = self.weights
        across_threads(
            _judge, shortlist.starts, shortlist.columns, rows.indptr, rows.indices, rows.data,
            w.indptr, w.indices, w.data, self.biases, rows.shape[1], out,
        )  # fmt: skip
        return out

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        return {}, pack_csr("weights", self.weights) | {"biases": self.biases}

    @classmethod
    def from_state(cls, settings: dict[str, Any], arrays: dict[str, np.ndarray]) -> Self:
        return cls(unpack_csr(arrays, "weights"), arrays["biases"])


def _spans(starts: np.ndarray, parts: int = 64) -> list[tuple[int, int]]:
    """Runs of labels that hold about as many rows each; more runs than threads, so that none waits for long."""
    cuts = np.searchsorted(starts, np.linspace(0, starts[-1], parts + 1)[1:-1])
    cuts = np.unique(np.concatenate([[0], cuts, [len(starts) - 1]]))
    return [(int(a), int(b)) for a, b in itertools.pairwise(cuts)]
