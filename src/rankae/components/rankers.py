"""One linear SVM a label, trained only on the rows whose shortlist names it: the negatives that are hard to tell apart.

A label costs the words of the rows in its list, so all labels together cost rows x shortlist x words a pass, whatever
the number of labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
import torch

from rankae.components.dual_descent import MOST_FOLDS, Entries, Folds, Limits, Rows, Vectors, solve_labels
from rankae.model_file import pack_csr, unpack_csr
from rankae.numerics.shards import Arrays, Span, weighted_spans, workers_for
from rankae.numerics.shortlist import Shortlist

_ENTRIES = 8_000_000  # of rows and labels that are sorted by label at a time: some 400 MB
_SHARE_OF_SETTLED = 1 / 3  # of the cost; between a seventh and 1 it makes little difference
_RUNS = 64  # of labels, more than threads, so that none waits for long


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
        fold = np.full(rows.shape[0], -1, np.int8) if fold is None else fold.astype(np.int8)
        listed = np.bincount(shortlist.columns, minlength=labels.shape[1])
        listed += np.bincount(labels.indices, minlength=labels.shape[1])
        shared = {"rows": rows, "labels": labels, "fold": fold}
        for name, own in zip(_list_names(len(without)), (shortlist, *without), strict=True):
            shared |= {f"{name}.starts": own.starts, f"{name}.columns": own.columns}
        if start is not None:
            shared |= {"old": start.weights, "old_biases": start.biases}
        settings = {"cost": cost, "passes": passes, "tolerance": tolerance, "least": least, "seed": seed}
        settings |= {"last_passes": passes if last_passes is None else last_passes, "lists": 1 + len(without)}
        others = workers_for(10.0 * listed.sum() * rows.nnz / max(1, rows.shape[0]))
        spans = weighted_spans(listed + 1, others.shards(-(-int(listed.sum() + 1) // _ENTRIES)))
        found = list(others.map("rankers", solve_shard, shared, settings, spans))
        weights = _stacked(found, ("weights", "words", "starts"), rows.shape[1])
        out_of_fold = _stacked(found, ("out_of_fold", "of_rows", "of_labels"), rows.shape[0])
        return cls(weights, np.concatenate([own["biases"] for own in found])), out_of_fold.T.tocsr()

    @property
    def shape(self) -> tuple[int, int]:
        """Words and labels that it knows."""
        return self.weights.shape[1], len(self.biases)

    def updated(
        self,
        rows: sp.csr_matrix,
        labels: sp.csr_matrix,
        shortlist: Shortlist,
        *,
        settled: np.ndarray,
        cost: float = 1.0,
        seed: int = 0,
    ) -> Rankers:
        """Rankers that have seen some more rows.

        settled : bool, labels whose weights stand for more rows than those that are new. At full cost the few would
            undo what the many have taught.
        cost : as the rankers were trained with.
        """
        parts, order = [], []
        for chosen, share in ((settled, _SHARE_OF_SETTLED), (~settled, 1.0)):
            columns = np.flatnonzero(chosen)
            if len(columns):
                own = Rankers(self.weights[columns], self.biases[columns])
                how: dict[str, Any] = {"cost": share * cost, "seed": seed, "start": own}
                parts.append(Rankers.train(rows, labels[:, columns], shortlist.among(columns), **how)[0])
                order.append(columns)
        places = np.argsort(np.concatenate(order))
        weights = sp.vstack([own.weights for own in parts], format="csr")[places]
        return Rankers(weights, np.concatenate([own.biases for own in parts])[places])

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


def solve_shard(shared: dict[str, Any], settings: dict[str, Any], span: Span) -> Arrays:
    """The rankers of the labels first:last, and their scores of held-out rows: two CSR matrices, labels first."""
    first, last = span
    rows, fold = shared["rows"], shared["fold"]
    lists = [Shortlist(shared[f"{n}.starts"], shared[f"{n}.columns"]) for n in _list_names(settings["lists"] - 1)]
    own = [listed.between(first, last) for listed in lists]
    sides, signs, uses = _sides(shared["labels"][:, first:last], own[0], own[1:])
    starts = sides.indptr.astype(np.int64)
    lengths = np.asarray(rows.multiply(rows).sum(1), dtype=np.float32).ravel()
    counts, folds = np.zeros(last - first, np.int64), int(fold.max(initial=-1)) + 1
    if "old" in shared:
        old, biases = shared["old"][first:last], shared["old_biases"][first:last].copy()
    else:
        old = sp.csr_matrix((last - first, rows.shape[1]), dtype=np.float32)
        biases = np.zeros(last - first, np.float32)
    out_of_fold = np.zeros(len(signs) if folds else 0, np.float32)
    data = Rows(rows.indptr.astype(np.int64), rows.indices, rows.data, lengths)
    entries = Entries(starts, sides.indices, signs, uses)
    before = Vectors(old.indptr.astype(np.int64), old.indices.astype(np.int32, copy=False), old.data)
    cost, tolerance, least = (np.float32(settings[name]) for name in ("cost", "tolerance", "least"))
    limits = Limits(cost, settings["passes"], settings["last_passes"], tolerance, least)
    held = Folds(folds, fold, out_of_fold)
    seed = settings["seed"] + first  # a label's own random numbers do not depend on the shard that it is in

    def solve_span(run: Span) -> tuple[np.ndarray, np.ndarray]:
        w = np.zeros(rows.shape[1] + 1, np.float32)
        return solve_labels(*run, data, entries, before, limits, held, w, counts, biases, seed)

    with ThreadPoolExecutor(torch.get_num_threads()) as pool:
        found = list(pool.map(solve_span, weighted_spans(np.diff(starts) + 1, _RUNS)))
    words, weights = (np.concatenate(own) for own in zip(*found, strict=True))
    ends = np.concatenate([[0], np.cumsum(counts)])
    kept = fold[sides.indices] >= 0
    scores = {"out_of_fold": out_of_fold[kept] if folds else out_of_fold, "of_rows": sides.indices[kept]}
    scores["of_labels"] = np.concatenate([[0], np.cumsum(kept)])[sides.indptr]
    return {"weights": weights, "words": words, "starts": ends, "biases": biases} | scores


def _list_names(folds: int) -> list[str]:
    return ["listed", *(f"listed without {f}" for f in range(folds))]


def _stacked(found: list[Arrays], names: tuple[str, str, str], width: int) -> sp.csr_matrix:
    """The CSR matrices of all shards, one below the other."""
    values, columns = (np.concatenate([own[name] for own in found]) for name in names[:2])
    sizes = np.concatenate([np.diff(own[names[2]]) for own in found])
    starts = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    return sp.csr_matrix((values, columns, starts), shape=(len(sizes), width))


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
