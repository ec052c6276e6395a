"""What the other labels of a row say of a label: how often rows that carry those carry it as well.

Rows are cut into parts, and those of an entry's own part are not counted: a label does not vouch for itself.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numba import njit

_FACTS = 4
_PRIOR = np.float32(2)  # rows without the other label: shares of few rows are drawn to 0


def co_occurrence(rows: np.ndarray, columns: np.ndarray, labels: sp.csr_matrix, part: np.ndarray) -> np.ndarray:
    """float32 [entries, 4]: of the row's other labels m, the greatest and the mean share of rows with m that carry the
    label; the mean share of rows with the label that carry m; and how many m there are.

    rows, columns : of the entries. part : of each row.
    """
    out = np.zeros((len(rows), _FACTS), dtype=np.float32)
    for own in range(int(part.max()) + 1):
        others = sp.csr_matrix(labels[part != own], dtype=np.float32)
        together = sp.csr_matrix(others.T @ others)
        together.sort_indices()
        alone = np.bincount(others.indices, minlength=labels.shape[1]).astype(np.float32)
        places = np.flatnonzero(part[rows] == own)
        found = together.indptr, together.indices, together.data
        _count(rows, columns, places, labels.indptr, labels.indices, *found, alone, out)
    return out


@njit(cache=True, nogil=True)
def _count(rows, columns, places, label_starts, label_columns, starts, others, counts, alone, out):
    for e in places:
        label, seen = columns[e], 0
        greatest, given, giving = np.float32(0), np.float32(0), np.float32(0)
        for m in label_columns[label_starts[rows[e]] : label_starts[rows[e] + 1]]:
            if m == label:
                continue
            seen += 1
            at = starts[m] + np.searchsorted(others[starts[m] : starts[m + 1]], label)
            if at == starts[m + 1] or others[at] != label:
                continue
            share = counts[at] / (alone[m] + _PRIOR)
            greatest = max(greatest, share)
            given += share
            giving += counts[at] / (alone[label] + _PRIOR)
        out[e, 0] = greatest
        out[e, 1] = given / max(1, seen)
        out[e, 2] = giving / max(1, seen)
        out[e, 3] = seen
