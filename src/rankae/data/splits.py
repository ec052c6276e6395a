"""Splits rows at random, or by groups of rows that belong together."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
import scipy.sparse as sp

from rankae.errors import DataError


def split_rows(
    n_rows: int, fraction: float = 0.2, seed: int = 0, groups: Sequence[Hashable] | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Row numbers to keep and row numbers to hold out, both ascending; the same for the same seed.

    Parameters
    ----------
    fraction : the share to hold out. Both parts get at least one row (or group).
    groups : a group for each row; a group is held out as a whole, so that near-duplicates of a row (two packages from
        one source, say) never stand on both sides.
    """
    if not 0 < fraction < 1:
        raise DataError(f"the held-out fraction is {fraction}; it must lie between 0 and 1")
    if groups is not None and len(groups) != n_rows:
        raise DataError(f"there are {n_rows} rows but {len(groups)} groups")
    number: dict[Hashable, int] = {}
    group = np.arange(n_rows) if groups is None else np.array([number.setdefault(g, len(number)) for g in groups])
    n_groups = int(group.max(initial=-1)) + 1
    if n_groups < 2:
        raise DataError(f"{n_groups} row{'s' if n_groups != 1 else ''} or groups cannot be split in two")
    order = np.random.default_rng(seed).permutation(n_groups)
    # Groups differ in size: take them in random order until the held-out rows come nearest to the share.
    held_rows = np.cumsum(np.bincount(group, minlength=n_groups)[order])
    n_held = int(np.argmin(np.abs(held_rows - fraction * n_rows))) + 1
    held = np.zeros(n_groups, dtype=bool)
    held[order[: min(n_held, n_groups - 1)]] = True
    return np.flatnonzero(~held[group]), np.flatnonzero(held[group])


def split_runs(labels: sp.csr_matrix, fraction: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """`split_rows` by whole runs of rows (see `runs_of_rows`).

    Rows beside each other are often of one source, and a row that has its like in the other part tells nothing of rows
    to come. Where rows are in no order, runs are as good as single rows.
    """
    from rankae.data.near_duplicates import runs_of_rows  # numba takes a while to import

    return split_rows(labels.shape[0], fraction, seed, groups=runs_of_rows(labels).tolist())
