"""Label noise for experiments: labels that are missing, and labels that are missing or wrong."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from rankae.errors import DataError

# Plain flips make rate x labels wrong labels a row: beyond this many in all they are refused.
MOST_FLIPS = 1 << 28
# Up to so many labels plain flips keep the number of labels a row within reason.
FEW_LABELS = 50
_STREAM = 0x6E6F697365  # "noise"


def noisy_labels(labels: sp.csr_matrix, kind: str, rate: float, seed: int = 0) -> sp.csr_matrix:
    """Noise of a kind by name.

    kind : "missing"; "plain-flip"; "balanced-flip"; or "flip", which is plain for few labels and balanced for many.
    """
    if kind == "flip":
        kind = "plain-flip" if labels.shape[1] <= FEW_LABELS else "balanced-flip"
    kinds = {"missing": miss_labels, "plain-flip": flip_labels, "balanced-flip": flip_labels_balanced}
    if kind not in kinds:
        raise DataError(f"there is no label noise {kind!r}; choose one of flip, {', '.join(kinds)}")
    return kinds[kind](labels, rate, seed)


def miss_labels(labels: sp.csr_matrix, rate: float, seed: int = 0) -> sp.csr_matrix:
    """Drop each label of each row with probability `rate`."""
    rng = _generator(rate, seed)
    return _kept(labels, rng.random(labels.nnz) >= rate)


def flip_labels(labels: sp.csr_matrix, rate: float, seed: int = 0) -> sp.csr_matrix:
    """Flip each cell of the label matrix, present or absent, with probability `rate` (the paper's definition).

    With many labels the wrong ones soon outnumber the right ones; see `flip_labels_balanced`.
    """
    rng = _generator(rate, seed)
    n_rows, n_labels = labels.shape
    if rate * n_rows * n_labels > MOST_FLIPS:
        raise DataError(f"flipping {rate:g} of {n_rows} x {n_labels} labels gives too many; use balanced flips")
    blocks = []
    size = max(1, (1 << 22) // max(1, n_labels))
    for start in range(0, n_rows, size):
        present = labels[start : start + size].toarray() > 0
        blocks.append(sp.csr_matrix(present ^ (rng.random(present.shape) < rate), dtype=np.float32))
    return sp.vstack(blocks, format="csr") if blocks else labels.copy()


def flip_labels_balanced(labels: sp.csr_matrix, rate: float, seed: int = 0) -> sp.csr_matrix:
    """Drop each label with probability `rate`, and add as many wrong ones anywhere in the matrix."""
    rng = _generator(rate, seed)
    keep = rng.random(labels.nnz) >= rate
    n_rows, n_labels = labels.shape
    absent = n_rows * n_labels - labels.nnz
    target = min(int((~keep).sum()), absent)
    present = _cells(labels)  # a wrong label was absent from the clean data, so a dropped one cannot come back
    wrong = np.empty(0, dtype=np.int64)
    if target > absent // 2:  # nearly every absent cell: list them all, for drawing would hit few new ones
        wrong = rng.permutation(np.setdiff1d(np.arange(n_rows * n_labels), present))[:target]
    while len(wrong) < target:
        drawn = rng.integers(0, n_rows * n_labels, 2 * (target - len(wrong)) + 16)
        drawn = np.setdiff1d(drawn, np.concatenate([present, wrong]))  # sorted and distinct, so take at random below
        wrong = np.concatenate([wrong, rng.permutation(drawn)[: target - len(wrong)]])
    cells = np.concatenate([present[keep], wrong])
    row, column = np.divmod(cells, max(1, n_labels))
    return sp.csr_matrix((np.ones(len(cells), np.float32), (row, column)), shape=labels.shape)


def _generator(rate: float, seed: int) -> np.random.Generator:
    if not 0 <= rate <= 1:
        raise DataError(f"the noise rate is {rate}; it must lie between 0 and 1")
    # A stream of its own, so that noise is independent of data drawn with the same seed.
    return np.random.default_rng([_STREAM, seed])


def _cells(labels: sp.csr_matrix) -> np.ndarray:
    """row * labels + column of every stored label."""
    row = np.repeat(np.arange(labels.shape[0], dtype=np.int64), np.diff(labels.indptr))
    return row * labels.shape[1] + labels.indices


def _kept(labels: sp.csr_matrix, keep: np.ndarray) -> sp.csr_matrix:
    ends = np.concatenate([[0], np.cumsum(keep)])[labels.indptr]
    return sp.csr_matrix((labels.data[keep], labels.indices[keep], ends), shape=labels.shape)
