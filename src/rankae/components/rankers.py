"""One linear SVM per label, trained on the rows that carry it and on hard negatives: rows whose shortlist names it.

A pass over all labels costs rows x shortlist length x words per row, whatever the number of labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
import torch

from rankae.components.dual_descent import MOST_FOLDS, START_BIAS, Entries, Folds, Limits, Rows, Vectors, solve_labels
from rankae.model_file import pack_csr, unpack_csr
from rankae.numerics.shards import Arrays, Span, weighted_spans, workers_for
from rankae.numerics.shortlist import Shortlist

_ENTRIES = 3_000_000  # entries of a shard, which are sorted by label at once: some 150 MB
_SHARE_OF_SETTLED = 1 / 3  # of the cost, for settled labels; between a seventh and 1 it makes little difference
_RUNS = 64  # spans of labels, more than threads, so that threads finish at about the same time


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
        factors: np.ndarray | None = None,
        cost: float = 1.0,
        least: float = 0.02,
        passes: int = 4,
        last_passes: int | None = None,
        tolerance: float = 0.1,
        seed: int = 0,
        start: Rankers | None = None,
    ) -> tuple[Self, sp.csr_matrix]:
        """Train each label on the rows that carry it and the rows whose out-of-fold shortlist names it.

        Parameters
        ----------
        fold : the fold of each row, -1 for rows that are never held out.
        without : for each fold, the shortlists that there would be without it; by default the same.
        factors : what the weights of each row are multiplied by when it is scored as a held-out row; by default 1.
        cost : C of the SVM.
        least : smaller weights are dropped.
        passes, last_passes : over the rows without each fold, and over all rows; the second defaults to the first.
        start : rankers to start from; the new weights are regularised towards theirs instead of towards 0.

        Returns
        -------
        the rankers, trained on all rows, and the out-of-fold scores of held-out rows: a sparse rows x labels matrix
        with their listed and carried labels.
        """
        fold = np.full(rows.shape[0], -1, np.int8) if fold is None else fold.astype(np.int8)
        factors = np.ones(rows.shape[0], np.float32) if factors is None else factors
        listed = np.bincount(shortlist.columns, minlength=labels.shape[1])
        listed += np.bincount(labels.indices, minlength=labels.shape[1])
        shared = {"rows": rows, "labels": labels, "fold": fold, "factors": factors}
        for name, entries in zip(_list_names(len(without)), (shortlist, *without), strict=True):
            shared |= {f"{name}.starts": entries.starts, f"{name}.columns": entries.columns}
        if start is not None:
            shared |= {"old": start.weights, "old_biases": start.biases}
        settings = {"cost": cost, "passes": passes, "tolerance": tolerance, "least": least, "seed": seed}
        settings |= {"last_passes": passes if last_passes is None else last_passes, "lists": 1 + len(without)}
        workers = workers_for(10.0 * listed.sum() * rows.nnz / max(1, rows.shape[0]))
        spans = weighted_spans(listed + 1, workers.shards(-(-int(listed.sum() + 1) // _ENTRIES)))
        results = list(workers.map("rankers", solve_shard, shared, settings, spans))
        weights = _stacked(results, ("weights", "words", "starts"), rows.shape[1])
        out_of_fold = _stacked(results, ("out_of_fold", "of_rows", "of_labels"), rows.shape[0])
        return cls(weights, np.concatenate([entries["biases"] for entries in results])), out_of_fold.T.tocsr()

    @property
    def shape(self) -> tuple[int, int]:
        """Number of words and of labels."""
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
        """The rankers after an update with new rows.

        settled : bool, labels with fewer new rows than old ones. They are updated at a lower cost, so that a few new
            rows do not undo what many old rows have taught.
        cost : C with which the rankers were trained.
        """
        trained, order = [], []
        for chosen, share in ((settled, _SHARE_OF_SETTLED), (~settled, 1.0)):
            columns = np.flatnonzero(chosen)
            if len(columns):
                rankers = Rankers(self.weights[columns], self.biases[columns])
                options: dict[str, Any] = {"cost": share * cost, "seed": seed, "start": rankers}
                trained.append(Rankers.train(rows, labels[:, columns], shortlist.among(columns), **options)[0])
                order.append(columns)
        places = np.argsort(np.concatenate(order))
        weights = sp.vstack([rankers.weights for rankers in trained], format="csr")[places]
        return Rankers(weights, np.concatenate([rankers.biases for rankers in trained])[places])

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        return {}, pack_csr("weights", self.weights) | {"biases": self.biases}

    @classmethod
    def from_state(cls, settings: dict[str, Any], arrays: dict[str, np.ndarray]) -> Self:
        return cls(unpack_csr(arrays, "weights"), arrays["biases"])


def random_negatives(labels: sp.csr_matrix, count: int, seed: int = 0) -> np.ndarray:
    """Labels drawn for each row, with probability proportional to the square root of their frequency: int32 [rows,
    count].

    A ranker that has only seen hard negatives scores unrelated rows arbitrarily.
    """
    share = np.cumsum(np.sqrt(np.bincount(labels.indices, minlength=labels.shape[1])))
    places = np.random.default_rng(seed).random((labels.shape[0], count)) * share[-1]
    return np.minimum(np.searchsorted(share, places, side="right"), labels.shape[1] - 1).astype(np.int32)


def solve_shard(shared: dict[str, Any], settings: dict[str, Any], span: Span) -> Arrays:
    """The rankers of the labels first:last, and their out-of-fold scores: two CSR matrices with a row for each
    label."""
    first, last = span
    rows, fold = shared["rows"], shared["fold"]
    lists = [Shortlist(shared[f"{n}.starts"], shared[f"{n}.columns"]) for n in _list_names(settings["lists"] - 1)]
    shard_lists = [listed.between(first, last) for listed in lists]
    sides, signs, uses = _sides(shared["labels"][:, first:last], shard_lists[0], shard_lists[1:])
    starts = sides.indptr.astype(np.int64)
    lengths = np.asarray(rows.multiply(rows).sum(1), dtype=np.float32).ravel()
    counts, folds = np.zeros(last - first, np.int64), int(fold.max(initial=-1)) + 1
    if "old" in shared:
        old, biases = shared["old"][first:last], shared["old_biases"][first:last].copy()
    else:
        old = sp.csr_matrix((last - first, rows.shape[1]), dtype=np.float32)
        biases = np.full(last - first, START_BIAS)
    out_of_fold = np.zeros(len(signs) if folds else 0, np.float32)
    data = Rows(rows.indptr.astype(np.int64), rows.indices, rows.data, lengths)
    entries = Entries(starts, sides.indices, signs, uses)
    start = Vectors(old.indptr.astype(np.int64), old.indices.astype(np.int32, copy=False), old.data)
    cost, tolerance, least = (np.float32(settings[name]) for name in ("cost", "tolerance", "least"))
    limits = Limits(cost, settings["passes"], settings["last_passes"], tolerance, least)
    out_of_fold_scores = Folds(folds, fold, shared["factors"], out_of_fold)
    seed = settings["seed"] + first  # so that a label's random numbers do not depend on its shard

    def solve_span(run: Span) -> tuple[np.ndarray, np.ndarray]:
        w = np.zeros(rows.shape[1] + 1, np.float32)
        return solve_labels(*run, data, entries, start, limits, out_of_fold_scores, w, counts, biases, seed)

    with ThreadPoolExecutor(torch.get_num_threads()) as pool:
        results = list(pool.map(solve_span, weighted_spans(np.diff(starts) + 1, _RUNS)))
    words, weights = (np.concatenate(shard_lists) for shard_lists in zip(*results, strict=True))
    ends = np.concatenate([[0], np.cumsum(counts)])
    kept = fold[sides.indices] >= 0
    scores = {"out_of_fold": out_of_fold[kept] if folds else out_of_fold, "of_rows": sides.indices[kept]}
    scores["of_labels"] = np.concatenate([[0], np.cumsum(kept)])[sides.indptr]
    return {"weights": weights, "words": words, "starts": ends, "biases": biases} | scores


def _list_names(folds: int) -> list[str]:
    return ["listed", *(f"listed without {f}" for f in range(folds))]


def _stacked(results: list[Arrays], names: tuple[str, str, str], width: int) -> sp.csr_matrix:
    """The CSR matrices of all shards, one below the other; the results lose them, so that memory holds them once."""
    sizes = np.concatenate([np.diff(result[names[2]]) for result in results])
    starts = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    values, columns = (_joined([result.pop(name) for result in results], int(starts[-1])) for name in names[:2])
    return sp.csr_matrix((values, columns, starts), shape=(len(sizes), width))


def _joined(parts: list[np.ndarray], size: int) -> np.ndarray:
    """The concatenation of the parts; each part is freed once it is copied."""
    joined, used = np.empty(size, dtype=parts[0].dtype), 0
    while parts:
        part = parts.pop(0)
        joined[used : used + len(part)] = part
        used += len(part)
    return joined


def _sides(
    labels: sp.csr_matrix, shortlist: Shortlist, without: Sequence[Shortlist]
) -> tuple[sp.csc_matrix, np.ndarray, np.ndarray]:
    """All entries by label: a CSC matrix, their signs, and their `uses` (see `dual_descent`).

    The entries come from one sparse sum in which each list contributes its own power of 2.
    """

    def listed(listing: Shortlist, bit: int) -> sp.csr_matrix:
        return listing.matrix(np.full(len(listing.columns), 1 << bit, dtype=np.float32), labels.shape[1])

    carried = MOST_FOLDS + 1
    total = listed(shortlist, MOST_FOLDS) + labels * np.float32(1 << carried)
    for f, listing in enumerate(without):
        total = total + listed(listing, f)
    sides = total.tocsc()
    bits = sides.data.astype(np.uint16)
    positive = bits >> carried > 0
    everywhere = positive if len(without) else np.ones(len(bits), dtype=bool)
    return sides, np.where(positive, np.float32(1), np.float32(-1)), np.where(everywhere, 255, bits).astype(np.uint8)
