"""The closed-form start, known as PLST: an SVD of the labels gives E and D, a ridge regression gives F.

    E, D   the h leading right singular vectors of the label matrix:  y_h = y V,  y' = V y_h
    F      ridge regression of the codes on the words:                 x_h = x W,  W = (X'X + ridge I)^-1 X' Z

F fits its training rows far better than new rows, so nothing about ranking can be learnt from its codes of training
rows. Leave-one-out codes replace them: those of an F fitted without the row, or without all rows of its group (see
`rankae.paper.left_out`). They rest on estimates that are good enough to tune D, but whose errors depend on the row's
own labels, which a stacker would learn to exploit. F is therefore solved without the rows that are held out for the
stacker. If there are few rows, so are E and D, because a short code remembers which labels a row has together.

If embeddings P of the words are known (GloVe, words x dimensions), F may use them,

    W = U + a P V,     ridge (|U|^2 + |V|^2)  in place of  ridge |W|^2,

so that words with similar embeddings share what is learnt, which helps if rows are few or labels are wrong. This is the
same regression on the rows x (I, a P), and W is computed from its solution.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from rankae.data.word_embeddings import WordEmbeddings
from rankae.metrics import row_merits
from rankae.numerics.conjugate_gradients import RidgeSolver, Targets
from rankae.numerics.singular_vectors import leading_vectors
from rankae.numerics.sparse_product import sparse_product
from rankae.numerics.top_k import top_k
from rankae.paper.left_out import left_out_codes, probe_signs

_SHORT = 64  # a code that suffices to compare settings
_EMBEDDING_SCALE = 0.5  # a; between a quarter and 1 it makes little difference


@dataclass(frozen=True)
class Without:
    """The start without a fold: codes of all rows by an F solved without it, and the V that they belong to.

    Codes of the fold's rows are direct outputs of that F; those of the other rows are leave-one-out codes.
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
    groups: np.ndarray | None = None,
    iterations: int = 12,
) -> WarmStart:
    """Solve for E, D and F, and compute the leave-one-out codes of all rows.

    folds : indices of rows that are held out together. Their codes come from an F solved without them, those of the
        other rows from the leave-one-out formula.
    groups : the number of each row's group, if what is left out is to be all rows of its group.
    iterations : of the solver, and half as many where it starts from the solution without a fold.
    """
    words = rows.shape[1]
    if embeddings is not None:
        P = _EMBEDDING_SCALE * embeddings.vectors
        rows = sp.hstack([rows, sp.csr_matrix(sparse_product(rows, P))], format="csr")
    groups = np.arange(rows.shape[0]) if groups is None else groups
    probes = probe_signs(groups, seed)
    label_table = leading_vectors(labels, code_size, seed)
    # A V with as many columns as labels gives the same scores whatever rows it is computed from, and V computed without
    # one fold, a seventh of the rows, hardly differs. With several folds, rows are few, and V would remember theirs.
    one_table = label_table.shape[1] == labels.shape[1] or len(folds) == 1
    without: list[Without] = []
    solution: np.ndarray | None = None
    before = label_table
    for fold in folds:
        rest = np.setdiff1d(np.arange(rows.shape[0]), fold)
        table = label_table if one_table else leading_vectors(labels[rest], code_size, seed)
        start = None if solution is None else _converted(solution, before, table)
        targets, before = Targets(labels, table, probes), table
        solution = RidgeSolver(rows[rest], ridge).solve(targets.taken(rest), start, iterations)
        codes = np.empty((rows.shape[0], table.shape[1]), dtype=np.float32)
        codes[rest] = left_out_codes(rows[rest], solution, targets.taken(rest), groups[rest])
        codes[fold] = sparse_product(rows[fold], solution[:, : table.shape[1]])
        without.append(Without(codes, table))
    targets = Targets(labels, label_table, probes)
    start = None if solution is None else _converted(solution, before, label_table)
    # The solution without a fold is close to this one.
    solution = RidgeSolver(rows, ridge).solve(targets, start, iterations if start is None else iterations // 2)
    loo_codes = left_out_codes(rows, solution, targets, groups)
    for fold, fold_start in zip(folds, without, strict=True):
        loo_codes[fold] = _converted(fold_start.codes[fold], fold_start.label_table, label_table)
    h = label_table.shape[1]
    word_table = np.ascontiguousarray(solution[:words, :h])
    if embeddings is not None:
        word_table += P @ solution[words:, :h]
    return WarmStart(word_table, label_table, loo_codes, ridge, without)


def _converted(codes: np.ndarray, table: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Codes (or word tables) for one V, approximately converted to those for another; further columns are kept."""
    if table is other:
        return codes
    h = table.shape[1]
    return np.hstack([codes[:, :h] @ (table.T @ other), codes[:, h:]])


def held_out_precision(
    rows: sp.csr_matrix,
    labels: sp.csr_matrix,
    folds: Sequence[np.ndarray],
    ridges: Sequence[float] = (1.0,),
    seed: int = 0,
    embeddings: WordEmbeddings | None = None,
) -> dict[float, np.ndarray]:
    """For each ridge, the precision of each row of the folds by a start that was solved without its fold."""
    if embeddings is not None:
        beside = sparse_product(rows, _EMBEDDING_SCALE * embeddings.vectors)
        rows = sp.hstack([rows, sp.csr_matrix(beside)], format="csr")
    precisions: dict[float, list[np.ndarray]] = {ridge: [] for ridge in ridges}
    for fold in folds:
        rest = np.setdiff1d(np.arange(rows.shape[0]), fold)
        table = leading_vectors(labels[rest], _SHORT, seed)
        targets = Targets(labels[rest], table, np.empty((len(rest), 0), dtype=np.float32))
        learnt, checked = rows[rest], rows[fold]
        for ridge in ridges:
            codes = sparse_product(checked, RidgeSolver(learnt, ridge).solve(targets))
            precisions[ridge].append(row_merits(top_k(codes, table, None, 5)[0], labels[fold]))
    return {ridge: np.concatenate(per_fold) for ridge, per_fold in precisions.items()}


def leave_one_out_precision(
    rows: sp.csr_matrix,
    labels: sp.csr_matrix,
    validation: np.ndarray,
    ridges: Sequence[float] = (1.0,),
    seed: int = 0,
    embeddings: WordEmbeddings | None = None,
) -> dict[float, np.ndarray]:
    """For each ridge, the precision of each validation row by leave-one-out scores: the mean of its P@1, P@3 and P@5.

    A short code is enough to compare settings.

    validation : indices of the rows to measure. Rows with a near-duplicate among the others should not be among them,
        because they favour settings that memorise (see `novel_rows`).
    """
    precisions = {}
    for ridge in ridges:
        start = warm_start(rows, labels, _SHORT, ridge, seed, embeddings=embeddings)
        columns = top_k(start.loo_codes[validation], start.label_table, None, 5)[0]
        precisions[ridge] = row_merits(columns, labels[validation])
    return precisions
