"""The closed-form start: with linear maps and gates of 1, L_h has an exact solution.

    E, D   the h leading right singular vectors of the label matrix:  y_h = y V,  y' = V y_h
    F      ridge regression of the codes on the words:                 x_h = x W,  W = (X'X + lambda I)^-1 X' Z

F fits its own training rows far better than new ones, so scores on training rows teach nothing about ranking. The
leave-one-out code of a row is what F would say of it had it never seen it,

    z_loo = (z_hat - s z) / (1 - s),     s = x (X'X + lambda I)^-1 x'   (the row's leverage),

and the leverages come from a few random probe columns that ride along in the same solver (Hutchinson's estimator).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from rankae.data.families import novel_rows
from rankae.metrics import evaluate
from rankae.network.kernels.sparse_product import sparse_product
from rankae.network.top_k import top_k

_PROBES = 24
_MOST_LEVERAGE = 0.98  # beyond it the correction divides by less than the noise of the estimate
RIDGES = (0.3, 1.0, 2.0, 4.0)


@dataclass(frozen=True)
class WarmStart:
    """word_table W [V, h], label_table V [L, h], honest (leave-one-out) codes of the training rows, and lambda."""

    word_table: np.ndarray
    label_table: np.ndarray
    honest_codes: np.ndarray
    ridge: float


def warm_start(rows: sp.csr_matrix, labels: sp.csr_matrix, code_size: int, ridge: float, seed: int = 0) -> WarmStart:
    """Solve for E, D and F, and leave each row out in turn."""
    label_table = label_codes(labels, code_size, seed)
    codes = sparse_product(labels, label_table)
    word_table, leverage = ridge_regression(rows, codes, ridge, seed)
    honest = sparse_product(rows, word_table)
    honest -= leverage[:, None] * codes
    honest /= (1 - leverage)[:, None]
    return WarmStart(word_table, label_table, honest, ridge)


def choose_ridge(rows: sp.csr_matrix, labels: sp.csr_matrix, seed: int = 0) -> float:
    """The lambda whose leave-one-out scores rank best."""
    return max(RIDGES, key=lambda ridge: honest_precision(rows, labels, ridge, seed))


def honest_precision(
    rows: sp.csr_matrix, labels: sp.csr_matrix, ridge: float = 1.0, seed: int = 0, most_rows: int = 10_000
) -> float:
    """Mean of P@1, P@3 and P@5 by leave-one-out scores; a sample and a short code suffice to compare settings.

    Rows that have a near copy among the others are not counted: they reward memory, whatever the setting.
    """
    if rows.shape[0] > most_rows:
        sample = np.sort(np.random.default_rng(seed).permutation(rows.shape[0])[:most_rows])
        rows, labels = rows[sample], labels[sample]
    start = warm_start(rows, labels, 64, ridge, seed)
    columns = top_k(start.honest_codes, start.label_table, None, 5)[0]
    novel = novel_rows(rows)
    figures = evaluate(columns[novel], labels[novel])
    return float(np.mean([figures[name] for name in ("P@1", "P@3", "P@5")]))


def label_codes(labels: sp.csr_matrix, code_size: int, seed: int = 0, iterations: int = 3) -> np.ndarray:
    """The leading right singular vectors of the label matrix, [L, h], by randomised subspace iteration."""
    size = min(code_size, *labels.shape)
    width = min(size + 16, *labels.shape)
    transposed = labels.T.tocsr()
    basis = np.random.default_rng(seed).standard_normal((labels.shape[1], width), dtype=np.float32)
    for _ in range(iterations):
        basis = _orthonormal(sparse_product(transposed, _orthonormal(sparse_product(labels, basis))))
    image = sparse_product(labels, basis)
    _, rotation = np.linalg.eigh(image.T @ image)
    return np.ascontiguousarray(basis @ rotation[:, ::-1][:, :size])


def _orthonormal(columns: np.ndarray) -> np.ndarray:
    return np.linalg.qr(columns)[0]


def ridge_regression(
    rows: sp.csr_matrix, codes: np.ndarray, ridge: float, seed: int = 0, iterations: int = 12, tolerance: float = 1e-3
) -> tuple[np.ndarray, np.ndarray]:
    """W = (X'X + ridge I)^-1 X' codes and the leverage of each row, by conjugate gradients.

    All columns share one pass over the sparse matrix an iteration; each has its own step length. The diagonal of
    X'X + ridge I preconditions, because word frequencies differ by orders of magnitude.
    """
    probes = np.random.default_rng(seed).choice(np.array([-1, 1], np.float32), (rows.shape[0], _PROBES))
    transposed = rows.T.tocsr()
    scale = (1 / (np.asarray(rows.multiply(rows).sum(0)).ravel() + ridge)).astype(np.float32)[:, None]
    residual = sparse_product(transposed, np.hstack([codes, probes]))
    solution = np.zeros_like(residual)
    direction = scale * residual
    energy = first_energy = _column_dots(residual, direction)
    for _ in range(iterations):
        image = sparse_product(transposed, sparse_product(rows, direction))
        image += np.float32(ridge) * direction
        step = energy / np.maximum(_column_dots(direction, image), 1e-30)
        solution += step * direction
        image *= step
        residual -= image
        scaled = scale * residual
        energy, before = _column_dots(residual, scaled), energy
        if np.all(energy <= tolerance**2 * first_energy):
            break
        direction *= energy / np.maximum(before, 1e-30)
        direction += scaled
    h = codes.shape[1]
    leverage = np.mean(sparse_product(rows, solution[:, h:]) * probes, axis=1)
    return np.ascontiguousarray(solution[:, :h]), np.clip(leverage, 0, _MOST_LEVERAGE)


def _column_dots(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.einsum("ij,ij->j", a, b)
