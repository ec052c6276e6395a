"""read(write(x)) = x for every writer, and arbitrary bytes give a DataError or a Dataset, never anything else."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rankae.data import Dataset, iter_batches, load_dataset, write_dataset
from rankae.errors import DataError

FEW = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])

finite = st.floats(width=32, allow_nan=False, allow_infinity=False)
strings = st.text(max_size=12) | st.text(st.characters(), max_size=12)  # the second with lone surrogates too


@st.composite
def matrices(draw, rows: int, values) -> sp.csr_matrix:
    width = draw(st.integers(1, 12))
    given_rows = [draw(st.dictionaries(st.integers(0, width - 1), values, max_size=4)) for _ in range(rows)]
    indptr = np.cumsum([0] + [len(row) for row in given_rows])
    indices = np.array([j for row in given_rows for j in sorted(row)], np.int32)
    data = np.array([row[j] for row in given_rows for j in sorted(row)], np.float32)
    return sp.csr_matrix((data, indices, indptr), shape=(rows, width))


@st.composite
def feature_sets(draw) -> Dataset:
    rows = draw(st.integers(1, 6))
    return Dataset(draw(matrices(rows, st.just(1.0))), draw(matrices(rows, finite)))


@st.composite
def text_sets(draw) -> Dataset:
    texts = draw(st.lists(strings, min_size=1, max_size=6))
    labels = draw(matrices(len(texts), st.just(1.0)))
    names = draw(st.lists(strings.filter(bool), min_size=labels.shape[1], max_size=labels.shape[1], unique=True))
    return Dataset(labels, texts=texts, label_names=names)


def there_and_back(data: Dataset, name: str, **options) -> Dataset:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        write_dataset(data, path)
        assert [p.name for p in Path(folder).iterdir()] == [name]
        return load_dataset(path, **options)


def assert_same_matrix(a: sp.csr_matrix, b: sp.csr_matrix) -> None:
    assert a.shape == b.shape
    np.testing.assert_array_equal(a.indptr, b.indptr)
    np.testing.assert_array_equal(a.indices, b.indices)
    np.testing.assert_array_equal(a.data, b.data)


def label_sets(data: Dataset) -> list[set[str]]:
    names = data.label_names or [str(i) for i in range(data.n_labels)]
    return [{names[j] for j in row.indices} for row in data.labels]


@FEW
@given(feature_sets(), st.sampled_from(["a.txt", "a.txt.gz", "a.txt.xz"]))
def test_xmc(data, name):
    back = there_and_back(data, name)
    assert_same_matrix(back.features, data.features)
    assert_same_matrix(back.labels, data.labels)


@FEW
@given(feature_sets())
def test_npz_of_features(data):
    back = there_and_back(data, "a.npz")
    assert_same_matrix(back.features, data.features)
    assert_same_matrix(back.labels, data.labels)


@FEW
@given(text_sets())
def test_npz_of_texts(data):
    back = there_and_back(data, "a.npz")
    assert (back.texts, back.label_names) == (data.texts, data.label_names)
    assert_same_matrix(back.labels, data.labels)


@FEW
@given(text_sets())
def test_jsonl_of_texts(data):
    back = there_and_back(data, "a.jsonl")
    assert back.texts == data.texts
    assert label_sets(back) == label_sets(data)


@FEW
@given(feature_sets())
def test_jsonl_of_features(data):
    back = there_and_back(data, "a.jsonl", n_features=data.n_features)
    assert_same_matrix(back.features, data.features)
    assert label_sets(back) == label_sets(data)


def test_zst(tmp_path):
    pytest.importorskip("zstandard", reason="needs the extra 'zstd'")
    data = Dataset(sp.csr_matrix(np.eye(2, dtype=np.float32)), texts=["a", "b"], label_names=["x", "y"])
    assert there_and_back(data, "a.jsonl.zst").texts == ["a", "b"]


NAMES = ["a.txt", "a.svm", "a.jsonl", "a.csv", "a.tsv", "a.ft", "a.npz", "a.txt.gz"]
# Bytes that come near to what the readers expect find more than random ones do.
PIECES = [
    b"1",
    b"0,2",
    b" ",
    b"\n",
    b"\r\n",
    b":",
    b"3:0.5",
    b"-",
    b"nan",
    b"1e999",
    b"{",
    b"}",
    b'"text"',
    b'"labels"',
    b"[",
    b"]",
    b",",
    b'"',
    b"\xff",
    b"\x00",
    b"__label__",
    b"\t",
    b"text,labels\n",
    b"2 3 4\n",
    b"#",
    b"PK\x03\x04",
    b"\x1f\x8b",
]
noise = st.binary(max_size=60) | st.lists(st.sampled_from(PIECES), max_size=24).map(b"".join)


def complaint_of(read) -> str:
    """The sentence with which `read` refuses, "" if it does not; any other exception passes through and fails."""
    try:
        read()
    except DataError as error:
        return str(error)
    return ""


@settings(FEW, max_examples=150)
@given(noise, st.sampled_from(NAMES))
def test_arbitrary_bytes_never_give_a_traceback(content, name):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        for read in (lambda: load_dataset(path), lambda: list(iter_batches(path, batch=2))):
            complaint = complaint_of(read)
            assert "\n" not in complaint


@FEW
@given(st.data())
def test_a_damaged_npz_never_gives_a_traceback(data):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.npz"
        write_dataset(Dataset(sp.csr_matrix(np.eye(3, dtype=np.float32)), texts=["a", "b", "c"]), path)
        content = bytearray(path.read_bytes())
        for _ in range(data.draw(st.integers(1, 4))):
            content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
        path.write_bytes(bytes(content[: data.draw(st.integers(1, len(content)))]))
        assert "\n" not in complaint_of(lambda: load_dataset(path))
