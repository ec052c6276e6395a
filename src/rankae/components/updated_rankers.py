"""Update the rankers with new rows.

If the neighbours store the old rows nearly completely, the SVM of every label is trained again, on all rows that could
carry the label: old and new ones, or, for a label that an update added, the rows since that update. Otherwise (a model
without neighbours, or rows that consist mostly of frequent words, which are not stored) the old weights are moved by
the new rows.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from rankae.components.neighbours import Neighbours
from rankae.components.rankers import Rankers, random_negatives
from rankae.components.stack import Stack
from rankae.numerics.shortlist import Shortlist

_RANDOM_NEGATIVES = 10  # random labels for each row, added to the shortlist as random negatives
_REMEMBERED = 0.8  # share of the rows' squared length that must be stored for training on them


def updated_rankers(
    stack: Stack,
    neighbours: Neighbours | None,
    rows: sp.csr_matrix,
    labels: sp.csr_matrix,
    counts: np.ndarray,
    *,
    cost: float,
    seed: int,
) -> Rankers:
    """The rankers of the stack, which has columns for every label, after these rows.

    neighbours : with the new rows stored behind the old ones.
    counts : the number of old rows with each known label; labels beyond them are new.
    cost : the same as in the first training of the rankers.
    """
    assert isinstance(stack.rankers, Rankers)
    every = None if neighbours is None else _remembered_rows(neighbours, rows)
    if every is not None and neighbours is not None:
        return _solved_again(stack, neighbours, every, cost, seed)
    known = len(counts)
    shortlist = _unseen_shortlist(stack, neighbours, rows, labels, known, seed)
    settled = np.zeros(labels.shape[1], dtype=bool)
    settled[:known] = counts > np.bincount(labels.indices, minlength=labels.shape[1])[:known]
    return stack.rankers.updated(rows, labels, shortlist, settled=settled, cost=cost, seed=seed)


def _solved_again(stack: Stack, neighbours: Neighbours, every: sp.csr_matrix, cost: float, seed: int) -> Rankers:
    """Train every label on the rows from its `known_since` on."""
    labels = sp.csr_matrix(neighbours.labels).astype(np.float32)
    proposals = _proposals(stack, every)
    proposals.append(neighbours.predict(every, leave_one_out=True).propose(stack.proposed))
    since = np.minimum(stack.first_rows(), every.shape[0])
    weights, biases, order = [], [], []
    for first in np.unique(since):
        chosen = np.flatnonzero(since == first)
        new_labels = labels[first:, chosen]
        negatives = chosen[random_negatives(new_labels, min(_RANDOM_NEGATIVES, len(chosen)), seed)].astype(np.int32)
        shortlist = Shortlist.union([*(proposed[first:] for proposed in proposals), negatives]).among(chosen)
        trained, _ = Rankers.train(every[first:], new_labels, shortlist, cost=cost, seed=seed)
        weights.append(trained.weights)
        biases.append(trained.biases)
        order.append(chosen)
    places = np.argsort(np.concatenate(order))
    return Rankers(sp.vstack(weights, format="csr")[places], np.concatenate(biases)[places])


def _remembered_rows(neighbours: Neighbours, rows: sp.csr_matrix) -> sp.csr_matrix | None:
    """All stored rows, then the new ones; None if too little of the old rows is stored."""
    before = neighbours.search.size - rows.shape[0]
    stored = neighbours.search.matrix().tocsr()[:before].astype(np.float32)
    if before == 0 or stored.multiply(stored).sum() < _REMEMBERED * before:
        return None
    old = neighbours.remembered()[:before]
    return sp.vstack([old, rows], format="csr", dtype=np.float32)


def _proposals(stack: Stack, rows: sp.csr_matrix) -> list[np.ndarray]:
    """Proposals of the components (without the neighbours) that were not trained on the new rows."""
    predicted = replace(stack, neighbours=None, names=None).predictions(rows)
    return [predicted[name].propose(stack.proposed) for name in ("code", "network") if name in predicted]


def _unseen_shortlist(
    stack: Stack, neighbours: Neighbours | None, rows: sp.csr_matrix, labels: sp.csr_matrix, known: int, seed: int
) -> Shortlist:
    """The labels that the components propose for the new rows; no row is its own neighbour."""
    proposals = _proposals(stack, rows)
    if neighbours is not None:
        proposals.append(_votes_of_others(neighbours, rows).propose(stack.proposed))
    if labels.shape[1] > known:
        few = min(_RANDOM_NEGATIVES, labels.shape[1] - known)
        proposals.append(random_negatives(labels[:, known:], few, seed) + np.int32(known))
    return Shortlist.union(proposals)


def _votes_of_others(neighbours: Neighbours, rows: sp.csr_matrix):
    """Votes for the last of the stored rows, without the vote of the row itself."""
    one_more = Neighbours(neighbours.search, neighbours.labels, neighbours.count + 1)
    nearest, cosine = one_more.nearest(rows)
    last_rows = neighbours.search.size - rows.shape[0] + np.arange(rows.shape[0])
    cosine = np.where(nearest == last_rows[:, None], 0, cosine)
    order = np.argsort(-cosine, axis=1, kind="stable")[:, : neighbours.count]
    nearest, cosine = np.take_along_axis(nearest, order, axis=1), np.take_along_axis(cosine, order, axis=1)
    return neighbours.votes(np.where(cosine > 0, nearest, -1).astype(np.int32), cosine)
