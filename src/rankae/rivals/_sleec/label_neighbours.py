"""Pairs of rows that the embedding should keep close: those with common labels."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from rankae.data.unit_length import unit_rows

BLOCK_CELLS = 2**24  # of dense similarities at a time


def label_gram(labels: sp.csr_matrix, neighbours: int) -> sp.csr_matrix:
    """Cosine of the label sets of each row and its `neighbours` most similar rows, itself among them; made symmetric.

    Pairs without a common label are left out.
    """
    unit = unit_rows(labels)
    n = unit.shape[0]
    keep = min(neighbours, n)
    step = max(1, BLOCK_CELLS // n)
    blocks = []
    for first in range(0, n, step):
        similarity = (unit[first : first + step] @ unit.T).toarray()
        nearest = np.argpartition(-similarity, keep - 1, axis=1)[:, :keep]
        nearest.sort(axis=1)
        start = np.arange(0, nearest.size + 1, keep)
        value = np.take_along_axis(similarity, nearest, axis=1)
        blocks.append(sp.csr_matrix((value.ravel(), nearest.ravel(), start), shape=(len(nearest), n)))
    gram = sp.vstack(blocks, format="csr")
    gram.eliminate_zeros()
    return gram.maximum(gram.T).tocsr()
