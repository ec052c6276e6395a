import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from rankae.data.families import families, held_out_folds, novel_rows


def copies(groups: int, size: int, seed: int = 0) -> sp.csr_matrix:
    """`groups` documents, each in `size` near copies."""
    rng = np.random.default_rng(seed)
    originals = sp.random(groups, 400, density=0.03, random_state=seed, format="csr")
    rows = originals[np.repeat(np.arange(groups), size)].copy()
    rows.data *= 1 + 0.1 * rng.standard_normal(rows.nnz)
    return normalize(rows.astype(np.float32))


def test_near_copies_are_one_family():
    family = families(copies(30, 4))
    assert len(np.unique(family)) == 30
    assert (family.reshape(30, 4) == family.reshape(30, 4)[:, :1]).all()


def test_rows_without_a_near_copy_are_novel():
    rows = sp.vstack([copies(20, 3), copies(40, 1, seed=9)], format="csr")
    assert novel_rows(rows).tolist() == list(range(60, 100))
    assert len(novel_rows(copies(20, 3))) == 60  # all are copies, so all must do


def test_small_data_is_covered_by_three_folds_that_keep_families_together():
    rows = copies(50, 4)
    folds = held_out_folds(rows, seed=0)
    assert sorted(np.concatenate(folds).tolist()) == list(range(200))
    split = sum(len({f for f, fold in enumerate(folds) if row in fold}) > 1 for row in range(200))
    assert split == 0
    homes = [
        {int(np.flatnonzero([row in fold for fold in folds])[0]) for row in range(g, g + 4)} for g in range(0, 200, 4)
    ]
    assert sum(len(home) > 1 for home in homes) <= 2  # only a family at a border is divided


@pytest.mark.parametrize("seed", [0, 1])
def test_large_data_gives_one_fold_half_of_it_whole_families(seed):
    rows = copies(3500, 3)
    (fold,) = held_out_folds(rows, seed)
    assert len(fold) == len(set(fold.tolist())) == int(0.15 * 10_500)
    held = np.zeros(10_500, dtype=bool)
    held[fold] = True
    whole = held.reshape(3500, 3).all(1).sum()
    assert whole * 3 >= 0.45 * len(fold)
    assert whole * 3 < 0.7 * len(fold)
