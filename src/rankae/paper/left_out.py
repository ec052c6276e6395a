"""Codes of training rows by an F that has seen neither the row nor the rows that are alike, without fitting it again.

With the hat matrix H = X (X'X + ridge I)^-1 X', the outputs of F for its own rows are z_hat = H Z. Without the rows g
of a group, F gives them

    z_out = (I - H_gg)^-1 (z_hat_g - H_gg Z_g),        of a single row    z_loo = (z_hat - s z) / (1 - s),

s being the row's leverage. H_gg is estimated from random columns of signs P, which are solved along with the codes:
(H P)_g P_g' / columns has the mean H_gg. Its error comes from the rows outside the group alone, because the signs of
the rows of a group are orthogonal: rows of a Hadamard matrix, times the random signs of the group.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import scipy.sparse as sp
from scipy.linalg import hadamard

from rankae.numerics.conjugate_gradients import Targets
from rankae.numerics.sparse_product import sparse_product

PROBES = 64  # columns of signs; a power of 2
_MOST_LEVERAGE = 0.98  # for larger ones the divisor would be smaller than the error of the estimate
_ROWS = 2**16  # whose outputs are in memory at a time


def probe_signs(groups: np.ndarray, seed: int) -> np.ndarray:
    """P, int8 [rows, PROBES]. groups : the number of each row's group, from 0 on, of at most PROBES rows."""
    signs = np.random.default_rng(seed).choice(np.array([-1, 1], np.int8), (int(groups.max(initial=-1)) + 1, PROBES))
    order = np.argsort(groups, kind="stable")
    sizes = np.bincount(groups)
    place = np.empty(len(groups), dtype=np.int64)
    place[order] = np.arange(len(groups)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return hadamard(PROBES, dtype=np.int8)[place] * signs[groups]


def left_out_codes(rows: sp.csr_matrix, solution: np.ndarray, targets: Targets, groups: np.ndarray) -> np.ndarray:
    """z_out of all rows, float32 [rows, h].

    solution : F and the answers to the probes, as solved on these rows.
    targets : what they were solved for, the codes and the probes.
    """
    h = targets.table.shape[1]
    codes = np.empty((rows.shape[0], h), dtype=np.float32)
    order = np.argsort(groups, kind="stable")
    starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
    sizes = np.diff(starts, append=len(order))
    for first, last in pairwise(_whole_groups(starts, len(order))):
        span = order[first:last]
        outputs = sparse_product(rows[span], solution)
        wanted = targets.taken(span).of_rows(slice(0, len(span)))
        here = (starts >= first) & (starts < last)
        for size in np.unique(sizes[here]):
            members = starts[here & (sizes == size)][:, None] - first + np.arange(size)  # groups x size
            codes[span[members]] = _without(outputs[members], wanted[members], h)
    return codes


def _whole_groups(starts: np.ndarray, n: int) -> list[int]:
    """Ends of pieces of about _ROWS rows that cut no group in two."""
    ends = {int(starts[np.searchsorted(starts, end)]) for end in range(0, n, _ROWS) if end <= starts[-1]}
    return sorted({*ends, n})


def _without(outputs: np.ndarray, wanted: np.ndarray, h: int) -> np.ndarray:
    """z_out of groups of one size: [groups, size, h]."""
    H = np.einsum("gap,gbp->gab", outputs[..., h:], wanted[..., h:]) / np.float32(PROBES)
    size = H.shape[1]
    if size == 1:
        s = np.clip(H, 0, _MOST_LEVERAGE)
        return (outputs[..., :h] - s * wanted[..., :h]) / (1 - s)
    s, vectors = np.linalg.eigh((H + H.transpose(0, 2, 1)) / 2)
    s, turned = np.clip(s, 0, _MOST_LEVERAGE)[..., None], vectors.transpose(0, 2, 1)
    return vectors @ ((turned @ outputs[..., :h] - s * (turned @ wanted[..., :h])) / (1 - s))
