"""The fingerprint of a data set, a SHA-256 that is stored in the model so that its figures can be traced."""

from __future__ import annotations

import hashlib

import numpy as np
import scipy.sparse as sp

from rankae.data.dataset import Dataset


def fingerprint(data: Dataset) -> str:
    """The same for the same rows, labels and names in the same order, whatever file or format they came from."""
    digest = hashlib.sha256()
    for matrix in (data.features, data.labels):
        if matrix is not None:
            _add_matrix(digest, matrix)
    for names in (data.texts, data.label_names):
        for name in names or ():
            digest.update(name.encode("utf-8", "surrogatepass") + b"\0")
        digest.update(b"\1")
    return digest.hexdigest()


def _add_matrix(digest: hashlib._Hash, matrix: sp.csr_matrix) -> None:
    digest.update(repr(matrix.shape).encode())
    digest.update(matrix.indptr.astype(np.int64).tobytes())
    digest.update(matrix.indices.astype(np.int32).tobytes())
    digest.update(matrix.data.astype(np.float32).tobytes())
