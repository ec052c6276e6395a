import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from rankae.data.near_duplicates import held_out_folds, held_out_sizes, novel_rows


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


@pytest.mark.parametrize(("rows", "folds"), [(2401, 5), (4880, 3), (9361, 2)])
def test_of_more_rows_as_few_fifths_are_held_out_as_are_enough(rows, folds):
    fold = held_out_folds(np.zeros(rows), seed=0)
    assert np.bincount(fold[fold >= 0]).tolist() == held_out_sizes(rows)
    assert len(held_out_sizes(rows)) == folds
    assert 2400 <= (fold >= 0).sum() <= rows // 5 * folds + folds


@pytest.mark.parametrize("seed", [0, 1])
def test_half_of_the_held_out_rows_of_large_data_have_no_near_copy(seed):
    nearest = np.where(np.arange(12_000) % 4 == 0, 0.3, 0.95)
    fold = held_out_folds(nearest, seed)
    held = fold == 0
    assert held.sum() == int(0.15 * 12_000)
    assert (fold[~held] == -1).all()
    novel = (nearest[held] < 0.8).mean()
    assert 0.5 < novel < 0.7  # half of them, and a fourth of the other half
