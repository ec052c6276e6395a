"""Ridge regression on a sparse matrix with many targets, by conjugate gradients.

    (X'X + ridge I) S = X'T

All columns of T share one pass over the sparse matrix per iteration; each has its own step length. The preconditioner
is the diagonal of X'X + ridge I, because word frequencies differ by orders of magnitude. Memory is bounded: columns are
solved in blocks, X is read in blocks of rows, and T may be given as a product that is computed as needed. Besides the
two sparse products, an iteration makes three passes over the tables, without temporaries.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import njit

from rankae.numerics.row_blocks import RowBlocks
from rankae.numerics.shards import HERE, Arrays, Span, Workers, workers_for
from rankae.numerics.sparse_product import sparse_product
from rankae.numerics.threads import across_threads

_COLUMNS = 128  # solved at a time
_BLOCK = 2048  # rows of a table that are summed up at a time


@dataclass(frozen=True)
class Targets:
    """T = [matrix @ table, more], rows x columns.

    matrix, table : CSR [rows, m] and float32 [m, columns].
    more : further columns, of any numeric type.
    """

    matrix: sp.csr_matrix
    table: np.ndarray
    more: np.ndarray

    @property
    def shape(self) -> tuple[int, int]:
        return self.matrix.shape[0], self.table.shape[1] + self.more.shape[1]

    def taken(self, rows: np.ndarray) -> Targets:
        return Targets(self.matrix[rows], self.table, self.more[rows])

    def between(self, first: int, last: int) -> Targets:
        """The columns first:last."""
        h = self.table.shape[1]
        more = self.more[:, max(0, first - h) : max(0, last - h)]
        return Targets(self.matrix, np.ascontiguousarray(self.table[:, first:last]), more)

    def of_rows(self, span: slice) -> np.ndarray:
        if not self.table.shape[1]:
            return np.ascontiguousarray(self.more[span], dtype=np.float32)
        product = sparse_product(RowBlocks(self.matrix).block(span), self.table)
        return np.hstack([product, self.more[span].astype(np.float32, copy=False)])

    @classmethod
    def given(cls, columns: np.ndarray) -> Targets:
        """T given as a dense array."""
        nothing = sp.csr_matrix((len(columns), 0), dtype=np.float32)
        return cls(nothing, np.empty((0, 0), dtype=np.float32), columns)


class RidgeSolver:
    """Solves for a given matrix and ridge."""

    def __init__(self, rows: sp.csr_matrix, ridge: float) -> None:
        self.rows, self.blocks, self.ridge = rows, RowBlocks(rows), np.float32(ridge)
        self.scale = (1 / (np.asarray(rows.multiply(rows).sum(0)).ravel() + ridge)).astype(np.float32)

    def solve(
        self,
        targets: np.ndarray | Targets,
        start: np.ndarray | None = None,
        iterations: int = 12,
        tolerance: float = 1e-3,
    ) -> np.ndarray:
        """S, starting from 0 or from the solution of a similar problem."""
        targets = targets if isinstance(targets, Targets) else Targets.given(targets)
        solution = np.empty((self.rows.shape[1], targets.shape[1]), dtype=np.float32)
        workers = workers_for(2.0 * iterations * self.rows.nnz * targets.shape[1])
        if workers is not HERE:
            return self._solve_elsewhere(workers, targets, start, iterations, tolerance)
        for first, last in _column_spans(targets):
            block_start = None if start is None else start[:, first:last]
            solution[:, first:last] = self._solve(targets.between(first, last), block_start, iterations, tolerance)
        return solution

    def _solve_elsewhere(
        self, workers: Workers, targets: Targets, start: np.ndarray | None, iterations: int, tolerance: float
    ) -> np.ndarray:
        """As `solve`, on other workers, with the same blocks of columns and therefore the same result."""
        shared: dict[str, Any] = {"rows": self.rows} | ({} if start is None else {"start": start})
        shared |= {"matrix": targets.matrix, "table": targets.table, "more": targets.more}
        settings = {"ridge": float(self.ridge), "iterations": iterations, "tolerance": tolerance}
        results = workers.map("ridge", solve_columns, shared, settings, _column_spans(targets))
        return np.concatenate([result["solution"] for result in results], axis=1)

    def _solve(self, targets: Targets, start: np.ndarray | None, iterations: int, tolerance: float) -> np.ndarray:
        residual = self.blocks.transposed_product(targets.of_rows, targets.shape[1])
        direction = residual * self.scale[:, None]
        enough = tolerance**2 * _column_dots(residual, direction)
        solution = np.zeros_like(residual)
        if start is not None:
            solution[:] = start
            residual -= self._image(solution)
            direction = residual * self.scale[:, None]
        energy = _column_dots(residual, direction)
        blocks = np.arange(-(-len(residual) // _BLOCK) + 1)
        sums = np.empty((len(blocks) - 1, residual.shape[1]), dtype=np.float64)
        for _ in range(iterations):
            if np.all(energy <= enough):
                break
            image = self.blocks.normal_product(direction)
            across_threads(_curvature, blocks, direction, image, self.ridge, sums)
            step = (energy / np.maximum(sums.sum(0), 1e-30)).astype(np.float32)
            across_threads(_advance, blocks, step, direction, image, self.scale, solution, residual, sums)
            energy, before = sums.sum(0), energy
            across_threads(_turn, blocks, (energy / np.maximum(before, 1e-30)).astype(np.float32), self.scale,
                           residual, direction)  # fmt: skip
        return solution

    def _image(self, table: np.ndarray) -> np.ndarray:
        return self.blocks.normal_product(table) + self.ridge * table


def solve_columns(shared: dict[str, Any], settings: dict[str, Any], span: Span) -> Arrays:
    """The solution for the columns first:last of the targets."""
    start = np.ascontiguousarray(shared["start"][:, slice(*span)]) if "start" in shared else None
    solver = RidgeSolver(shared["rows"], settings["ridge"])
    targets = Targets(shared["matrix"], shared["table"], shared["more"]).between(*span)
    return {"solution": solver._solve(targets, start, settings["iterations"], settings["tolerance"])}


def _column_spans(targets: Targets) -> list[Span]:
    return list(pairwise([*range(0, targets.shape[1], _COLUMNS), targets.shape[1]]))


def _column_dots(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.einsum("ij,ij->j", a, b).astype(np.float64)


@njit(cache=True, nogil=True, fastmath=True)
def _curvature(first, last, starts, direction, image, ridge, sums):
    """image += ridge direction; sums of direction * image."""
    for block in range(first, last):
        sums[block] = 0
        for i in range(block * _BLOCK, min(len(direction), (block + 1) * _BLOCK)):
            for c in range(direction.shape[1]):
                image[i, c] += ridge * direction[i, c]
                sums[block, c] += direction[i, c] * image[i, c]


@njit(cache=True, nogil=True, fastmath=True)
def _advance(first, last, starts, step, direction, image, scale, solution, residual, sums):
    """solution += step direction; residual -= step image; sums of scale * residual^2."""
    for block in range(first, last):
        sums[block] = 0
        for i in range(block * _BLOCK, min(len(direction), (block + 1) * _BLOCK)):
            for c in range(direction.shape[1]):
                solution[i, c] += step[c] * direction[i, c]
                left = residual[i, c] - step[c] * image[i, c]
                residual[i, c] = left
                sums[block, c] += scale[i] * left * left


@njit(cache=True, nogil=True, fastmath=True)
def _turn(first, last, starts, ratio, scale, residual, direction):
    """direction = scale residual + ratio direction."""
    for block in range(first, last):
        for i in range(block * _BLOCK, min(len(direction), (block + 1) * _BLOCK)):
            for c in range(direction.shape[1]):
                direction[i, c] = scale[i] * residual[i, c] + ratio[c] * direction[i, c]
