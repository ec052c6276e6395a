from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from rankae.data import flip_labels, flip_labels_balanced, miss_labels, split_rows
from rankae.data.noise import noisy_labels
from rankae.data.splits import split_runs
from rankae.errors import DataError


@pytest.fixture(scope="module")
def labels():
    return sp.csr_matrix((np.random.default_rng(0).random((2000, 60)) < 0.1).astype(np.float32))


def gone_and_new(clean, noisy):
    clean, noisy = clean.toarray() > 0, noisy.toarray() > 0
    return (clean & ~noisy).sum(), (~clean & noisy).sum()


@pytest.mark.parametrize("rate", [0.0, 0.2, 0.6, 1.0])
def test_missing_only_drops(labels, rate):
    gone, new = gone_and_new(labels, miss_labels(labels, rate))
    assert new == 0
    assert gone / labels.nnz == pytest.approx(rate, abs=0.02)


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.5])
def test_plain_flips_strike_every_cell_alike(labels, rate):
    gone, new = gone_and_new(labels, flip_labels(labels, rate))
    assert gone / labels.nnz == pytest.approx(rate, abs=0.02)
    assert new / (labels.shape[0] * labels.shape[1] - labels.nnz) == pytest.approx(rate, abs=0.02)


@pytest.mark.parametrize("rate", [0.0, 0.2, 0.6, 1.0])
def test_balanced_flips_put_in_as_many_as_they_take(labels, rate):
    noisy = flip_labels_balanced(labels, rate)
    gone, new = gone_and_new(labels, noisy)
    assert gone == new
    assert gone / labels.nnz == pytest.approx(rate, abs=0.02)
    assert noisy.data.tolist() == [1.0] * noisy.nnz


def test_balanced_flips_of_a_nearly_full_matrix():
    full = np.ones((30, 4), np.float32)
    full[:5, 0] = 0
    assert flip_labels_balanced(sp.csr_matrix(full), 1.0).nnz == 5


def test_flip_is_plain_for_few_labels_and_balanced_for_many(labels):
    few = labels[:, :20].tocsr()
    assert (noisy_labels(few, "flip", 0.3) != flip_labels(few, 0.3)).nnz == 0
    assert (noisy_labels(labels, "flip", 0.3) != flip_labels_balanced(labels, 0.3)).nnz == 0


def test_noise_is_fixed_by_its_seed(labels):
    assert (miss_labels(labels, 0.5, 1) != miss_labels(labels, 0.5, 1)).nnz == 0
    assert (miss_labels(labels, 0.5, 1) != miss_labels(labels, 0.5, 2)).nnz > 0


def test_noise_mistakes(labels):
    with pytest.raises(DataError, match="between 0 and 1"):
        miss_labels(labels, 1.5)
    with pytest.raises(DataError, match="no label noise 'odd'"):
        noisy_labels(labels, "odd", 0.1)
    with pytest.raises(DataError, match="use balanced flips"):
        flip_labels(sp.csr_matrix((1_000_000, 1_000_000), dtype=np.float32), 0.1)


def test_split_is_a_partition_fixed_by_its_seed():
    kept, held = split_rows(100, 0.2, seed=3)
    assert len(held) == 20
    assert sorted([*kept, *held]) == list(range(100))
    assert held.tolist() == split_rows(100, 0.2, seed=3)[1].tolist()
    assert held.tolist() != split_rows(100, 0.2, seed=4)[1].tolist()


def test_groups_stay_whole():
    groups = [f"source{i % 17}" for i in range(200)]
    kept, held = split_rows(200, 0.25, groups=groups)
    assert not {groups[i] for i in kept} & {groups[i] for i in held}
    assert 30 <= len(held) <= 70


def test_split_mistakes():
    with pytest.raises(DataError, match="between 0 and 1"):
        split_rows(10, 1.0)
    with pytest.raises(DataError, match="cannot be split"):
        split_rows(1)
    with pytest.raises(DataError, match="10 rows but 2 groups"):
        split_rows(10, groups=["a", "b"])


def test_runs_are_held_out_whole():
    of_row = np.arange(1600) % 7
    kept, held = split_runs(sp.csr_matrix(np.eye(7, dtype=np.float32)[of_row]), 0.1, seed=1)
    assert len(held) == 160
    assert np.diff(np.flatnonzero(np.diff(held) > 1)).min() >= 16
    assert sorted([*kept, *held]) == list(range(1600))


def test_no_label_is_held_out_whole_where_rows_are_sorted_by_label():
    of_row = np.arange(1600) // 8
    kept, held = split_runs(sp.csr_matrix(np.eye(200, dtype=np.float32)[of_row]), 0.1, seed=1)
    assert len(held) == 160
    assert set(of_row[held]) <= set(of_row[kept])
