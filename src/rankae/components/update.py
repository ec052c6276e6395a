"""Going on with new rows: every component moves as little as the new rows ask for.

    code        W + (X'X + ridge I)^-1 X'(Z - X W): ridge regression that is drawn to the old solution, not to 0
    rankers     the SVM of each label that the new rows name, with its weights drawn to the old ones
    neighbours  the new rows can vote
    network     some more epochs, on the new rows alone

The stacker stays as it is.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from rankae.components.closed_form import ClosedForm
from rankae.components.network import NetworkComponent
from rankae.components.stack import Stack
from rankae.numerics.conjugate_gradients import RidgeSolver
from rankae.numerics.sparse_product import sparse_product

_RIDGE = 1.0
_EPOCHS = 3


def updated(stack: Stack, rows: sp.csr_matrix, labels: sp.csr_matrix, seed: int = 0) -> Stack:
    """The stack after it has seen some more rows."""
    return replace(
        stack,
        code=_updated_code(stack.code, rows, labels, seed),
        network=None if stack.network is None else _updated_network(stack.network, rows, labels, seed),
        neighbours=None if stack.neighbours is None else stack.neighbours.updated(rows, labels),
        rankers=None if stack.rankers is None else stack.rankers.updated(rows, labels, _named(stack, rows), seed=seed),
        label_counts=stack.label_counts + np.bincount(labels.indices, minlength=labels.shape[1]).astype(np.float32),
    )


def _named(stack: Stack, rows: sp.csr_matrix):
    return stack.candidates(rows).shortlist


def _updated_code(code: ClosedForm, rows: sp.csr_matrix, labels: sp.csr_matrix, seed: int) -> ClosedForm:
    # D may have been tuned, so the code that stands for a row's labels is the one that D reads as those labels.
    target = labels @ np.linalg.pinv(code.label_table).T if code.residual else sparse_product(labels, code.label_table)
    wanted = np.asarray(target, dtype=np.float32) - sparse_product(rows, code.word_table)
    change = RidgeSolver(rows, _RIDGE).solve(wanted)
    return ClosedForm(code.word_table + change, code.label_table, code.bias, code.residual, code.common)


def _updated_network(
    component: NetworkComponent, rows: sp.csr_matrix, labels: sp.csr_matrix, seed: int
) -> NetworkComponent:
    # A tenth of the learning rate of a new network: it is to be corrected, not trained anew.
    gentle = replace(component.settings, epochs=_EPOCHS, learning_rate=component.settings.learning_rate / 10)
    return component.trained_further(rows, labels, gentle, seed)
