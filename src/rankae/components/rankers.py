"""One linear SVM a label, trained only on the rows whose shortlist names it: the negatives that are hard to tell apart.

A label costs the words of the rows in its list, so all labels together cost rows x shortlist x words a pass, whatever
the number of labels.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
import torch

from rankae.components.dual_descent import MOST_FOLDS, solve_labels
from rankae.model_file import pack_csr, unpack_csr
from rankae.numerics.shortlist import Shortlist


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
        fold: np.ndarray | None = None,
        without: Sequence[Shortlist] = (),
        cost: float = 1.0,
        least: float = 0.02,
        passes: int = 8,
        last_passes: int | None = None,
        tolerance: float = 0.1,
        seed: int = 0,
        start: Rankers | None = None,
    ) -> tuple[Self, sp.csr_matrix]:
        """Learn each label from the rows that carry it and the rows whose out-of-fold shortlist names it.

        Parameters
        ----------
        fold : the fold in which each row is held out, -1 for rows that never are.
        without : for each fold, the shortlists that there would be without it; by default the same.
        cost : C of the SVM, the price of a row within the margin.
        least : weights smaller than this are dropped.
        passes, last_passes : over the rows without a fold, and at last over all of them; by default as many.
        start : rankers to go on from; their weights take the place of 0 as what the new ones are drawn to.

        Returns
        -------
        the rankers, trained on all rows, and for each held-out row the scores of rankers trained without its fold: of
        its listed and carried labels, as a sparse rows x labels matrix.
        """
        sides, signs, uses = _sides(labels, shortlist, without)
        starts = sides.indptr.astype(np.int64)
        lengths = np.asarray(rows.multiply(rows).sum(1), dtype=np.float32).ravel()
        counts = np.zeros(labels.shape[1], np.int64)
        nothing = sp.csr_matrix((labels.shape[1], rows.shape[1]), dtype=np.float32)
        old = nothing if start is None else start.weights
        biases = np.zeros(labels.shape[1], np.float32) if start is None else start.biases.copy()
        fold = np.full(rows.shape[0], -1, np.int8) if fold is None else fold.astype(np.int8)
        out_of_fold = np.zeros(len(signs) if fold.max(initial=-1) >= 0 else 0, np.float32)
        data = starts, sides.indices, signs, uses, rows.indptr.astype(np.int64), rows.indices, rows.data, lengths
        limits = np.float32(cost), passes, np.float32(tolerance), np.float32(least)
        before = old.indptr.astype(np.int64), old.indices.astype(np.int32, copy=False), old.data
        held = int(fold.max(initial=-1)) + 1, fold, out_of_fold, passes if last_passes is None else last_passes

        def solve_span(span: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
            w = np.zeros(rows.shape[1] + 1, np.float32)
            return solve_labels(*span, *data, w, *limits, *before, counts, biases, *held, seed)

        with ThreadPoolExecutor(torch.get_num_threads()) as pool:
            found = list(pool.map(solve_span, _spans(starts)))
        words, weights = (np.concatenate(own) for own in zip(*found, strict=True))
        ends = np.concatenate([[0], np.cumsum(counts)])
        rankers = cls(sp.csr_matrix((weights, words, ends), shape=(labels.shape[1], rows.shape[1])), biases)
        return rankers, _of_held_out_rows(out_of_fold, sides, fold)

    @property
    def shape(self) -> tuple[int, int]:
        """Words and labels that it knows."""
        return self.weights.shape[1], len(self.biases)

    def updated(self, rows: sp.csr_matrix, labels: sp.csr_matrix, shortlist: Shortlist, seed: int = 0) -> Rankers:
        """Rankers that have seen some more rows."""
        return Rankers.train(rows, labels, shortlist, seed=seed, start=self)[0]

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        return {}, pack_csr("weights", self.weights) | {"biases": self.biases}

    @classmethod
    def from_state(cls, settings: dict[str, Any], arrays: dict[str, np.ndarray]) -> Self:
        return cls(unpack_csr(arrays, "weights"), arrays["biases"])


def random_negatives(labels: sp.csr_matrix, count: int, seed: int = 0) -> np.ndarray:
    """Labels drawn for each row, int32 rows x count, frequent ones more often: by the square root of their frequency.

    A ranker that has met none but hard negatives does not learn what its label is about, only what sets it apart.
    """
    share = np.cumsum(np.sqrt(np.bincount(labels.indices, minlength=labels.shape[1])))
    places = np.random.default_rng(seed).random((labels.shape[0], count)) * share[-1]
    return np.minimum(np.searchsorted(share, places, side="right"), labels.shape[1] - 1).astype(np.int32)


def _sides(
    labels: sp.csr_matrix, shortlist: Shortlist, without: Sequence[Shortlist]
) -> tuple[sp.csc_matrix, np.ndarray, np.ndarray]:
    """Every entry that some solve is about, label by label: its sign, and which solves (see `dual_descent`).

    One sparse sum tells them apart: each list has a power of 2 of its own.
    """

    def listed(own: Shortlist, bit: int) -> sp.csr_matrix:
        return own.matrix(np.full(len(own.columns), 1 << bit, dtype=np.float32), labels.shape[1])

    carried = MOST_FOLDS + 1
    total = listed(shortlist, MOST_FOLDS) + labels * np.float32(1 << carried)
    for f, own in enumerate(without):
        total = total + listed(own, f)
    sides = total.tocsc()
    bits = sides.data.astype(np.uint16)
    positive = bits >> carried > 0
    everywhere = positive if len(without) else np.ones(len(bits), dtype=bool)
    return sides, np.where(positive, np.float32(1), np.float32(-1)), np.where(everywhere, 255, bits).astype(np.uint8)


def _of_held_out_rows(out_of_fold: np.ndarray, sides: sp.csc_matrix, fold: np.ndarray) -> sp.csr_matrix:
    kept = fold[sides.indices] >= 0
    if not kept.any():
        return sp.csr_matrix(sides.shape, dtype=np.float32)
    ends = np.concatenate([[0], np.cumsum(kept)])[sides.indptr]
    return sp.csc_matrix((out_of_fold[kept], sides.indices[kept], ends), shape=sides.shape).tocsr()


def _spans(starts: np.ndarray, runs: int = 64) -> list[tuple[int, int]]:
    """Runs of labels that hold about as many rows each; more runs than threads, so that none waits for long."""
    cuts = np.searchsorted(starts, np.linspace(0, starts[-1], runs + 1)[1:-1])
    cuts = np.unique(np.concatenate([[0], cuts, [len(starts) - 1]]))
    return [(int(a), int(b)) for a, b in itertools.pairwise(cuts)]
