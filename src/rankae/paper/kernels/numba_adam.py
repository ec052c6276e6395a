"""One pass over the rows that a batch touched, in place of a dozen gathers and scatters."""

from __future__ import annotations

import numpy as np
from numba import njit
from torch import Tensor

from rankae.numerics.threads import across_threads


@njit(fastmath=True, error_model="numpy", cache=True, nogil=True)
def _update(first, last, starts, table, mean, square, rows, grad, rates, floors, beta1, beta2, keep):
    one = beta1 / beta1
    for i in range(first, last):
        w, m, s, g = table[rows[i]], mean[rows[i]], square[rows[i]], grad[i]
        rate, floor = rates[i], floors[i]
        for c in range(w.shape[0]):
            m[c] = beta1 * m[c] + (one - beta1) * g[c]
            s[c] = beta2 * s[c] + (one - beta2) * g[c] * g[c]
            w[c] = keep * w[c] - rate * m[c] / (np.sqrt(s[c]) + floor)


def update_rows(
    table: Tensor, mean: Tensor, square: Tensor, steps: Tensor, rows: Tensor, grad: Tensor,
    lr: float, beta1: float, beta2: float, eps: float, decay: float,
) -> None:  # fmt: skip
    """A step of Adam for table[rows], rows distinct, each with its own count of steps."""
    steps[rows] += 1
    number = table.detach().numpy().dtype.type
    t = steps[rows].numpy().astype(np.float64)
    # Both of Adam's corrections in one factor, which the small eps must then share.
    root = np.sqrt(1 - beta2**t)
    rates = (lr * root / (1 - beta1**t)).astype(number)
    floors = (eps * root).astype(number)
    arrays = (a.detach().numpy() for a in (table, mean, square, rows, grad.contiguous()))
    factors = (number(beta1), number(beta2), number(1 - lr * decay))
    across_threads(_update, np.arange(len(rows) + 1), *arrays, rates, floors, *factors)
