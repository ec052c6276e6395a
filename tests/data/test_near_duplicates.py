import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from rankae.data.near_duplicates import (
    alike_groups,
    folds_to_compare,
    groups_in_runs,
    held_out_folds,
    held_out_sizes,
    nearest_others,
    novel_rows,
    runs_of_rows,
)
from rankae.numerics.row_search import RowSearch


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
    fold = held_out_folds(np.arange(203), seed=0)
    assert sorted(np.bincount(fold).tolist()) == [40, 40, 41, 41, 41]


@pytest.mark.parametrize(("rows", "folds"), [(2401, 5), (4880, 3), (9361, 2)])
def test_of_more_rows_as_few_fifths_are_held_out_as_are_enough(rows, folds):
    fold = held_out_folds(np.arange(rows), seed=0)
    assert np.bincount(fold[fold >= 0]).tolist() == held_out_sizes(rows)
    assert len(held_out_sizes(rows)) == folds
    assert 2400 <= (fold >= 0).sum() <= rows // 5 * folds + folds


def test_alike_rows_are_one_group_and_others_are_not():
    rows = sp.vstack([copies(20, 3), copies(40, 1, seed=9)], format="csr")
    groups = alike_groups(*RowSearch.over(rows).nearest(rows, 20, leave_one_out=True))
    assert len(set(groups)) == 60
    assert (groups[:60].reshape(20, 3) == groups[:60:3, None]).all()


def test_alike_rows_that_stand_anywhere_in_the_data_are_in_no_run():
    rows, mixed = copies(300, 3), np.random.default_rng(0).permutation(900)
    labels = sp.csr_matrix(np.eye(10, dtype=np.float32)[np.arange(900) // 3 % 10])
    group = np.repeat(np.arange(300), 3)
    assert groups_in_runs(*nearest_others(rows), labels).tolist() == group.tolist()
    assert len(np.unique(groups_in_runs(*nearest_others(rows[mixed]), labels[mixed]))) > 850
    sorted_by_label = sp.csr_matrix(np.eye(300, dtype=np.float32)[group])
    assert len(np.unique(groups_in_runs(*nearest_others(rows), sorted_by_label))) == 900


def test_a_chain_of_alike_rows_is_no_single_group():
    chain = np.arange(1000)
    nearest = np.stack([chain - 1, np.where(chain == 999, -1, chain + 1)], axis=1)
    assert np.bincount(alike_groups(nearest, np.full((1000, 2), 0.9))).max() <= 50


def test_rows_beside_each_other_are_held_out_together():
    labels = sp.csr_matrix(np.eye(7, dtype=np.float32)[np.arange(12_000) % 7])
    runs = runs_of_rows(labels)
    fold = held_out_folds(runs, seed=0)
    assert (fold == 0).sum() == int(0.15 * 12_000)
    of_run = np.bincount(runs[fold == 0])
    assert ((of_run == 0) | (of_run == 16)).mean() > 0.99


def test_of_rows_sorted_by_label_no_label_is_held_out_whole():
    of_label = np.arange(2000) // 8
    labels = sp.csr_matrix(np.eye(250, dtype=np.float32)[of_label])
    fold = held_out_folds(runs_of_rows(labels), seed=0)
    learnt = set(of_label[fold != 0])
    assert np.mean([label in learnt for label in of_label[fold == 0]]) > 0.95


def test_a_sample_knows_which_of_its_rows_stood_beside_each_other():
    labels = sp.csr_matrix(np.eye(3, dtype=np.float32)[np.arange(500) % 3])
    runs = runs_of_rows(labels, places=4 * np.arange(500))
    assert (np.bincount(runs) == 4).all()
    folds = folds_to_compare(runs, seed=0)
    assert sorted(np.concatenate(folds).tolist()) == list(range(500))
    assert all(len(np.unique(runs[rows])) <= 26 for rows in folds)
