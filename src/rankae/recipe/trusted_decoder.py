"""D corrected by trusted rows: noise in the labels blurs the codes, and what is left of them wants another D.

    D~ = argmin  sum over trusted rows |y - D~ z - b~|^2 + pull |D~ - a D|^2

with z the row's code, which has not seen its labels, and a the one number that scales D's scores to the labels best. It
takes one solve of h x h; rows x labels never stand in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from rankae.components.closed_form import ClosedForm
from rankae.metrics import precisions

PULLS = (0.03, 0.1, 0.3, 1.0)  # in mean energies of a code's dimension
_FOLDS = 5


@dataclass(frozen=True)
class Corrected:
    """A code, those that have not seen the trusted rows of each fold, and the precision on these rows."""

    component: ClosedForm
    without: list[ClosedForm]
    figures: dict[str, float]

    @property
    def merit(self) -> float:
        return sum(self.figures.values())


def trusted_folds(rows: int, folds: int = _FOLDS) -> list[np.ndarray]:
    """Places of the trusted rows, in folds."""
    return [np.arange(rows)[fold::folds] for fold in range(folds)]


def best_decoder(
    component: ClosedForm,
    codes: np.ndarray,
    labels: sp.csr_matrix,
    folds: Sequence[np.ndarray],
    pulls: Sequence[float] = PULLS,
) -> Corrected:
    """The correction that ranks trusted rows best where it has not seen them, or none.

    codes : of the trusted rows, as F gives them.
    """
    k = min(5, labels.shape[1])
    found = [
        Corrected(component, [component] * len(folds), precisions(component.predict_codes(codes).propose(k), labels))
    ]
    for pull in pulls:
        without = [corrected(component, *_left(codes, labels, fold), pull) for fold in folds]
        top = np.empty((len(codes), k), dtype=np.int32)
        for fold, own in zip(folds, without, strict=True):
            top[fold] = own.predict_codes(codes[fold]).propose(k)
        found.append(Corrected(corrected(component, codes, labels, pull), without, precisions(top, labels)))
    return max(found, key=lambda tried: tried.merit)


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
