"""Rows of length 1, and their lengths."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from rankae.data.unit_length import row_lengths, unit_rows


def test_unit_rows_leave_empty_rows_empty() -> None:
    rows = sp.csr_matrix(np.array([[3, 4], [0, 0]], dtype=np.float32))
    np.testing.assert_allclose(unit_rows(rows).toarray(), [[0.6, 0.8], [0, 0]], rtol=1e-6)
    np.testing.assert_allclose(row_lengths(rows), [5, 0])
    assert unit_rows(rows[:0]).shape == (0, 2)
