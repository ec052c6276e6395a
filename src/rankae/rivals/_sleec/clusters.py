"""k-means of unit rows by cosine: it only has to cut the data into pieces of like rows, so a few rounds will do."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize

ROUNDS = 7


def cluster_centres(rows: sp.csr_matrix, clusters: int, random: np.random.Generator) -> np.ndarray:
    """Unit centres, clusters x features, of unit rows. A cluster that loses its rows keeps its centre."""
    if clusters == 1:
        return np.zeros((1, rows.shape[1]), dtype=np.float32)
    centres = rows[random.choice(rows.shape[0], clusters, replace=False)].toarray()
    for _ in range(ROUNDS):
        nearest = nearest_centre(rows, centres)
        member = sp.csr_matrix((np.ones(len(nearest)), (nearest, np.arange(len(nearest)))), (clusters, len(nearest)))
        sums = (member @ rows).toarray()
        lost = ~np.bincount(nearest, minlength=clusters).astype(bool)
        sums[lost] = centres[lost]
        centres = normalize(sums)
    return centres.astype(np.float32)


def nearest_centre(rows: sp.csr_matrix, centres: np.ndarray) -> np.ndarray:
    """The cluster of each row; centres are unit vectors, so the nearest has the largest inner product."""
    return np.argmax(rows @ centres.T, axis=1)
