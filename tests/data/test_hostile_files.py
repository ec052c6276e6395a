"""Files that are broken, or made to break a reader: one sentence that names the file, in bounded memory."""

from __future__ import annotations

import datetime
import json

import numpy as np
import pytest
import scipy.sparse as sp

from rankae.data import load_dataset, opening
from rankae.data.formats import parquet
from rankae.errors import DataError


def refusal(path) -> str:
    with pytest.raises(DataError) as caught:
        load_dataset(path)
    told = str(caught.value)
    assert "\n" not in told
    assert path.name in told
    return told


def table(path, **columns):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table(columns), path)
    return path


def test_parquet_with_dates_for_labels_or_text(tmp_path):
    day = [datetime.date(2020, 1, 2)]
    assert "labels must be" in refusal(table(tmp_path / "a.parquet", text=["x"], labels=[day]))
    assert "not a string" in refusal(table(tmp_path / "b.parquet", text=day, labels=[["a"]]))


def test_parquet_with_a_date_that_python_cannot_hold(tmp_path):
    pa = pytest.importorskip("pyarrow")
    far = pa.array([2**60], pa.timestamp("ms"))
    assert "Parquet" in refusal(table(tmp_path / "a.parquet", text=["x"], labels=far))


def test_parquet_with_broken_utf8(tmp_path):
    pa = pytest.importorskip("pyarrow")
    broken = pa.Array.from_buffers(pa.string(), 1, pa.array([b"\xff\xfe"], pa.binary()).buffers())
    assert "Parquet" in refusal(table(tmp_path / "a.parquet", text=broken, labels=[["a"]]))


def test_a_parquet_bomb_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "FREE_BYTES", 1 << 20)
    place = table(tmp_path / "bomb.parquet", text=["a" * 100_000] * 2_000, labels=[["x"]] * 2_000)
    assert place.stat().st_size < 200_000
    assert "decompression bomb" in refusal(place)


def saved(path, **arrays):
    np.savez_compressed(path, **arrays)
    return path


def parts(matrix, prefix):
    names = {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr, "shape": np.array(matrix.shape)}
    return {prefix + name: value for name, value in names.items()}


LABELS = parts(sp.csr_matrix(np.ones((3, 1), np.float32)), "labels_")
TEXT = np.frombuffer(b"abcdef", np.uint8)


@pytest.mark.parametrize("ends", [[6, 0, 6], [2, 4, 5], [2, 4, 9], [-1, 3, 6], [[1, 2, 6]], [0.5, 2.0, 6.0]])
def test_npz_whose_strings_do_not_follow_each_other(tmp_path, ends):
    path = saved(tmp_path / "a.npz", **LABELS, texts_utf8=TEXT, texts_ends=np.array(ends))
    refusal(path)


@pytest.mark.parametrize(
    "changed",
    [
        {"shape": np.array([10**15, 1])},
        {"shape": np.array([[3, 1]])},
        {"indptr": np.array([0, 9, 1, 3])},
        {"format": np.array(b"csc"), "shape": np.array([10**12, 3])},
        {"data": np.array(["x"] * 3)},
        {"indices": np.array([-1, 0, 0])},
    ],
)
def test_npz_of_a_forged_matrix(tmp_path, changed):
    matrix = parts(sp.csr_matrix(np.eye(3, dtype=np.float32)), "")
    np.savez(tmp_path / "Y.train.npz", **parts(sp.csr_matrix(np.ones((3, 1), np.float32)), ""))
    path = saved(tmp_path / "X.train.npz", **(matrix | changed))
    refusal(path)


def test_json_numbers_of_hundreds_of_digits(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"features": {"1": 10**400}, "labels": ["a"]}))
    assert "too large" in refusal(path)
    path.write_text('{"features": {"1": ' + "9" * 5000 + '}, "labels": ["a"]}')
    refusal(path)


def test_a_small_compressed_file_of_tiny_rows_is_bounded(tmp_path, monkeypatch):
    import gzip

    path = tmp_path / "a.csv.gz"
    with gzip.open(path, "wb") as stream:
        stream.write(b"text,labels\n")
        for _ in range(24):
            stream.write(b"a,b\n" * (1 << 18))
    assert path.stat().st_size < 100_000
    assert opening.FREE_BYTES <= 16 << 20
    assert "decompression bomb" in refusal(path)
