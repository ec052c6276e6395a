"""D corrected on trusted rows: noisy labels distort the codes, and the distorted codes need another D.

    D~ = argmin  sum over trusted rows |y - D~ z - b~|^2 + pull |D~ - a D|^2

where z is the row's code (the row is not a training row) and a is the scalar that fits a D z to the labels best. The
solution is one linear system of size h x h; the dense matrix rows x labels is never built.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from rankae.components.closed_form import ClosedForm
from rankae.metrics import precisions

PULLS = (0.03, 0.1, 0.3, 1.0)  # in multiples of the mean squared code
_FOLDS = 5


@dataclass(frozen=True)
class Corrected:
    """The corrected component, those corrected without each fold, and the out-of-fold precision."""

    component: ClosedForm
    without: list[ClosedForm]
    figures: dict[str, float]

    @property
    def merit(self) -> float:
        return sum(self.figures.values())


def trusted_folds(rows: int, folds: int = _FOLDS) -> list[np.ndarray]:
    """Indices of the trusted rows of each fold."""
    return [np.arange(rows)[fold::folds] for fold in range(folds)]


def best_decoder(
    component: ClosedForm,
    codes: np.ndarray,
    labels: sp.csr_matrix,
    folds: Sequence[np.ndarray],
    pulls: Sequence[float] = PULLS,
) -> Corrected:
    """The correction of the best out-of-fold precision, or the component as it is if none is better.

    codes : F(x) of the trusted rows.
    """
    k = min(5, labels.shape[1])
    corrections = [
        Corrected(component, [component] * len(folds), precisions(component.predict_codes(codes).propose(k), labels))
    ]
    for pull in pulls:
        without = [corrected(component, *_left(codes, labels, fold), pull) for fold in folds]
        top = np.empty((len(codes), k), dtype=np.int32)
        for fold, component_without in zip(folds, without, strict=True):
            top[fold] = component_without.predict_codes(codes[fold]).propose(k)
        corrections.append(Corrected(corrected(component, codes, labels, pull), without, precisions(top, labels)))
    return max(corrections, key=lambda tried: tried.merit)


def corrected(component: ClosedForm, codes: np.ndarray, labels: sp.csr_matrix, pull: float) -> ClosedForm:
    """The component with D~ and b~ in place of D and b."""
    z = component.predict_codes(codes).codes
    centre, frequency = z.mean(0), np.asarray(labels.mean(axis=0), dtype=np.float32).ravel()
    z = z - centre
    energy = z.T @ z
    wanted = np.ascontiguousarray((labels.T @ z).T)  # z' (y - mean y), since z has no mean
    D = component.label_table.T
    explained = energy @ D
    scale = np.float32(np.vdot(D, wanted) / max(float(np.vdot(D, explained)), 1e-12))
    pull *= np.trace(energy) / len(energy)
    change = np.linalg.solve(
        energy + np.float32(pull) * np.eye(len(energy), dtype=np.float32), wanted - scale * explained
    )
    table = np.ascontiguousarray((scale * D + change).T)
    return ClosedForm(component.word_table, table, frequency - table @ centre, component.residual, component.common)


def _left(codes: np.ndarray, labels: sp.csr_matrix, fold: np.ndarray) -> tuple[np.ndarray, sp.csr_matrix]:
    rest = np.setdiff1d(np.arange(len(codes)), fold)
    return codes[rest], labels[rest]
