"""Files appear whole or not at all; GloVe files; npz pairs."""

from __future__ import annotations

import errno

import numpy as np
import pytest
import scipy.sparse as sp

from rankae.data import Dataset, load_dataset, write_dataset
from rankae.data.writing import written
from rankae.errors import DataError

ROWS = Dataset(sp.csr_matrix(np.eye(2, dtype=np.float32)), texts=["a", "b"])


def test_a_full_disk_leaves_the_old_file(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")

    def fill_the_disk():
        with written(path) as stream:
            stream.write(b"half of the new")
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(DataError, match="No space left on device.*nothing was changed"):
        fill_the_disk()
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


def test_an_interrupt_leaves_nothing(tmp_path):
    with pytest.raises(KeyboardInterrupt), written(tmp_path / "a.txt"):
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_written_is_refused(tmp_path):
    with pytest.raises(DataError, match="csv cannot be written"):
        write_dataset(ROWS, tmp_path / "a.csv")
    with pytest.raises(DataError, match="XMC text holds features"):
        write_dataset(ROWS, tmp_path / "a.txt")
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="cannot be written"):
        write_dataset(ROWS, tmp_path / "file" / "a.jsonl")
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_scipy_pairs(tmp_path):
    sp.save_npz(tmp_path / "X.trn.npz", sp.csr_matrix(np.eye(3, dtype=np.float32)))
    with pytest.raises(DataError, match="holds features only"):
        load_dataset(tmp_path / "X.trn.npz")
    sp.save_npz(tmp_path / "Y.trn.npz", sp.csr_matrix(np.ones((3, 2))))
    assert load_dataset(tmp_path).labels.shape == (3, 2)
    sp.save_npz(tmp_path / "Y.trn.npz", sp.csr_matrix(np.full((3, 2), 2.0)))
    with pytest.raises(DataError, match="only 0 and 1"):
        load_dataset(tmp_path)
    sp.save_npz(tmp_path / "X.trn.npz", sp.csr_matrix(np.full((3, 2), np.nan)))
    with pytest.raises(DataError, match="NaN"):
        load_dataset(tmp_path)


def test_an_npz_with_pickled_objects_is_refused(tmp_path):
    np.savez(tmp_path / "a.npz", labels_indptr=np.array([object()], dtype=object))
    with pytest.raises(DataError, match="not a readable"):
        load_dataset(tmp_path / "a.npz")
