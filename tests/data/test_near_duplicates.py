import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from rankae.data.near_duplicates import held_out_folds, novel_rows


def copies(groups: int, size: int, seed: int = 0) -> sp.csr_matrix:
    """`groups` documents, each in `size` near-duplicates."""
    rng = np.random.default_rng(seed)
    originals = sp.random(groups, 400, density=0.03, random_state=seed, format="csr")
    rows = originals[np.repeat(np.arange(groups), size)].copy()
    rows.data *= 1 + 0.1 * rng.standard_normal(rows.nnz)
    return normalize(rows.astype(np.float32))


def test_rows_without_a_near_copy_are_novel():
    rows = sp.vstack([copies(20, 3), copies(40, 1, seed=9)], format="csr")
    assert novel_rows(rows).tolist() == list(range(60, 100))
    assert len(novel_rows(copies(20, 3))) == 60  # all are copies, so all must do


def test_small_data_is_covered_by_five_even_folds():
    fold = held_out_folds(np.zeros(203), seed=0)
    assert sorted(np.bincount(fold).tolist()) == [40, 40, 41, 41, 41]


def test_a_quarter_is_held_out_once_where_15_percent_were_too_few():
    fold = held_out_folds(np.zeros(5000), seed=0)
    assert (fold == 0).sum() == 1250
    assert (fold == -1).sum() == 3750
    assert (held_out_folds(np.zeros(9000), seed=0) == 0).sum() == 1500


@pytest.mark.parametrize("seed", [0, 1])
def test_half_of_the_held_out_rows_of_large_data_have_no_near_copy(seed):
    nearest = np.where(np.arange(12_000) % 4 == 0, 0.3, 0.95)
    fold = held_out_folds(nearest, seed)
    held = fold == 0
    assert held.sum() == int(0.15 * 12_000)
    assert (fold[~held] == -1).all()
    novel = (nearest[held] < 0.8).mean()
    assert 0.5 < novel < 0.7  # half of them, and a fourth of the other half
