"""A CSR matrix as three named arrays of a model file, and back."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp


def csr_to_arrays(name: str, matrix: sp.csr_matrix) -> dict[str, np.ndarray]:
    """`name.data`, `name.indices`, `name.indptr` and `name.shape`."""
    return {
        f"{name}.data": matrix.data,
        f"{name}.indices": matrix.indices,
        f"{name}.indptr": matrix.indptr,
        f"{name}.shape": np.array(matrix.shape, dtype=np.int64),
    }


def csr_from_arrays(name: str, arrays: dict[str, np.ndarray]) -> sp.csr_matrix:
    """The matrix that `csr_to_arrays` took apart; its arrays are not copied."""
    parts = (arrays[f"{name}.data"], arrays[f"{name}.indices"], arrays[f"{name}.indptr"])
    return sp.csr_matrix(parts, shape=tuple(arrays[f"{name}.shape"].tolist()), copy=False)
