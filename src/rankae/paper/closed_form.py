"""The closed-form start: with linear maps and gates of 1, L_h has an exact solution.

    E, D   the h leading right singular vectors of the label matrix:  y_h = y V,  y' = V y_h
    F      ridge regression of the codes on the words:                 x_h = x W,  W = (X'X + ridge I)^-1 X' Z

F fits its own training rows far better than new ones, so scores on training rows teach nothing about ranking. The
leave-one-out code of a row is what F would say of it had it never seen it,

    z_loo = (z_hat - s z) / (1 - s),     s = x (X'X + ridge I)^-1 x'   (the row's leverage),

and the leverages come from a few random probe columns that ride along in the same solver (Hutchinson's estimator).
They are estimates, good enough to tune D on. Whoever learns to combine candidates would learn to read the error of the
estimate, which contains some of the row's own labels; so F is solved without the rows that are held out for that.
Where rows are few, so are E and D: a short code remembers which labels a row carries together.

Where the words' embeddings P are known (GloVe, words x dimensions), F may lean on them,

    W = U + a P V,     ridge (|U|^2 + |V|^2)  in place of  ridge |W|^2:

what too few rows, or rows with wrong labels, tell of one word, they tell of all words of similar embedding. That is the
same regression on the rows x (I, a P); afterwards W is a table of words like any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from rankae.data.word_embeddings import WordEmbeddings
from rankae.metrics import row_merits
from rankae.numerics.conjugate_gradients import RidgeSolver, Targets
from rankae.numerics.row_blocks import RowBlocks
from rankae.numerics.singular_vectors import leading_vectors
from rankae.numerics.sparse_product import sparse_product
from rankae.numerics.top_k import top_k

_PROBES = 24
_MOST_LEVERAGE = 0.98  # beyond it the correction divides by less than the noise of the estimate
_EMBEDDING_SCALE = 0.5  # a; between a quarter and 1 it makes little difference


@dataclass(frozen=True)
class Without:
    """What would be known without a fold: codes of all rows by an F that has not seen it, and the V they belong to.

    Rows of the fold are strangers to F; every other row is left out by the formula.
    """

    codes: np.ndarray
    label_table: np.ndarray


@dataclass(frozen=True)
class WarmStart:
    """word_table W [V, h], label_table V [L, h], leave-one-out codes of the training rows, and the ridge."""

    word_table: np.ndarray
    label_table: np.ndarray
    loo_codes: np.ndarray
    ridge: float
    without: list[Without] = field(default_factory=list)


def warm_start(
    rows: sp.csr_matrix,
    labels: sp.csr_matrix,
    code_size: int,
    ridge: float,
    seed: int = 0,
    folds: Sequence[np.ndarray] = (),
    embeddings: WordEmbeddings | None = None,
) -> WarmStart:
    """Solve for E, D and F, and tell what F would say of each row had it not seen it.

    folds : places of rows that are held out together. Their codes are those of an F that was solved without them;
        every other row is left out by the formula.
    """
    words = rows.shape[1]
    if embeddings is not None:
        P = _EMBEDDING_SCALE * embeddings.vectors
        rows = sp.hstack([rows, sp.csr_matrix(sparse_product(rows, P))], format="csr")
    probes = np.random.default_rng(seed).choice(np.array([-1, 1], np.int8), (rows.shape[0], _PROBES))
    label_table = leading_vectors(labels, code_size, seed)
    # A V of as many columns as labels gives the same scores whatever it has seen; one that has seen all rows but a
    # seventh hardly differs. Where folds cover every row, rows are few, and V would remember theirs.
    one_table = label_table.shape[1] == labels.shape[1] or len(folds) == 1
    without: list[Without] = []
    solution: np.ndarray | None = None
    before = label_table
    for fold in folds:
        rest = np.setdiff1d(np.arange(rows.shape[0]), fold)
        own = label_table if one_table else leading_vectors(labels[rest], code_size, seed)
        start = None if solution is None else _turned(solution, before, own)
        targets, before = Targets(labels, own, probes), own
        solution = RidgeSolver(rows[rest], ridge).solve(targets.taken(rest), start)
        left = _left_out(rows, solution, targets)
        left[fold] = sparse_product(rows[fold], solution[:, : own.shape[1]])
        without.append(Without(left, own))
    targets = Targets(labels, label_table, probes)
    start = None if solution is None else _turned(solution, before, label_table)
    # From the solution without a fold it is not far.
    solution = RidgeSolver(rows, ridge).solve(targets, start, iterations=12 if start is None else 6)
    loo_codes = _left_out(rows, solution, targets)
    for fold, known in zip(folds, without, strict=True):
        loo_codes[fold] = _turned(known.codes[fold], known.label_table, label_table)
    h = label_table.shape[1]
    word_table = np.ascontiguousarray(solution[:words, :h])
    if embeddings is not None:
        word_table += P @ solution[words:, :h]
    return WarmStart(word_table, label_table, loo_codes, ridge, without)


def _turned(codes: np.ndarray, table: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Codes (or tables of them) that belong to one V as they are, nearly, for the other; more columns stay behind."""
    if table is other:
        return codes
    h = table.shape[1]
    return np.hstack([codes[:, :h] @ (table.T @ other), codes[:, h:]])


def _left_out(rows: sp.csr_matrix, solution: np.ndarray, targets: Targets) -> np.ndarray:
    """Leave-one-out codes, from what F and the probes' columns answer for the rows that they were solved on."""
    h, blocks = targets.table.shape[1], RowBlocks(rows)
    found = np.empty((rows.shape[0], h), dtype=np.float32)
    for span in blocks.spans:
        answers, wanted = sparse_product(blocks.block(span), solution), targets.of_rows(span)
        leverage = np.clip(np.mean(answers[:, h:] * wanted[:, h:], axis=1), 0, _MOST_LEVERAGE)[:, None]
        found[span] = (answers[:, :h] - leverage * wanted[:, :h]) / (1 - leverage)
    return found


def leave_one_out_precision(
    rows: sp.csr_matrix,
    labels: sp.csr_matrix,
    validation: np.ndarray,
    ridges: Sequence[float] = (1.0,),
    seed: int = 0,
    embeddings: WordEmbeddings | None = None,
) -> dict[float, np.ndarray]:
    """For each ridge, the precision of each validation row by leave-one-out scores: the mean of its P@1, P@3 and P@5.

    A short code suffices to compare settings.

    validation : places of the rows to count. Rows that have a near-duplicate among the others reward memory,
        whatever the setting, and should not be (see `novel_rows`).
    """
    found = {}
    for ridge in ridges:
        start = warm_start(rows, labels, 64, ridge, seed, embeddings=embeddings)
        columns = top_k(start.loo_codes[validation], start.label_table, None, 5)[0]
        found[ridge] = row_merits(columns, labels[validation])
    return found
