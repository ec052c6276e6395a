from __future__ import annotations

import gzip
import io
import itertools
import json
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from rankae.data import Dataset, iter_batches, write_dataset
from rankae.errors import DataError


def texts_of(batches):
    return [text for batch in batches for text in batch.texts]


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.txt", "red apple\n\n3 apples\n", ["red apple", "", "3 apples"]),
        ("a.jsonl", '{"text": "a"}\n{"text": "b", "labels": ["x"]}\n"c"\n', ["a", "b", "c"]),
        ("a.csv", "text\na\nb\n", ["a", "b"]),
        ("a.ft", "__label__x a\nb\n", ["a", "b"]),
    ],
)
def test_texts(tmp_path, name, content, expected):
    (tmp_path / name).write_text(content)
    assert texts_of(iter_batches(tmp_path / name)) == expected
    assert [len(b) for b in iter_batches(tmp_path / name, batch=1)] == [1] * len(expected)


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz", "a.npz"])
def test_features(tmp_path, name):
    features = sp.csr_matrix(np.arange(20, dtype=np.float32).reshape(5, 4))
    data = Dataset(sp.csr_matrix(np.ones((5, 1), np.float32)), features)
    write_dataset(data, tmp_path / name)
    batches = list(iter_batches(tmp_path / name, batch=2))
    assert [len(batch) for batch in batches] == [2, 2, 1]
    assert (sp.vstack([batch.features for batch in batches]) != features).nnz == 0


def test_a_scipy_matrix_needs_no_labels(tmp_path):
    sp.save_npz(tmp_path / "X.npz", sp.csr_matrix(np.eye(3, dtype=np.float32)))
    (batch,) = iter_batches(tmp_path / "X.npz")
    assert batch.labels.shape == (3, 0)


def piped(monkeypatch, content: bytes):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(content))))


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_standard_input_tells_its_format(monkeypatch, pack):
    piped(monkeypatch, pack(b"plain text\nmore\n"))
    assert texts_of(iter_batches("-")) == ["plain text", "more"]
    piped(monkeypatch, pack(b'{"text": "a"}\n'))
    assert texts_of(iter_batches("-")) == ["a"]
    piped(monkeypatch, pack(b"0 1:0.5\n 3:1\n"))
    (batch,) = iter_batches("-")
    assert batch.features.shape == (2, 4)


def test_standard_input_with_a_named_format(monkeypatch):
    piped(monkeypatch, b"text\nx\n")
    assert texts_of(iter_batches("-", format="csv")) == ["x"]
    piped(monkeypatch, b'{"text": 1}\n')
    with pytest.raises(DataError, match="standard input, line 1: 'text' must be a string"):
        list(iter_batches("-"))
    piped(monkeypatch, b"PK\x03\x04")
    with pytest.raises(DataError, match="cannot be read as a stream"):
        iter_batches("-")


def test_an_endless_input_is_read_as_it_comes(monkeypatch):
    """Constant memory: the first batches are out although the input never ends."""

    class Endless(io.RawIOBase):
        def readable(self):
            return True

        def readinto(self, buffer):
            line = (json.dumps({"text": "word"}) + "\n").encode()
            size = min(len(buffer), len(line))
            buffer[:size] = line[:size]
            return size

    piped_in = io.BufferedReader(Endless(), 13 * 1024)
    monkeypatch.setattr(sys, "stdin", type("Stdin", (), {"buffer": piped_in})())
    first = list(itertools.islice(iter_batches("-", format="jsonl", batch=10), 3))
    assert [len(batch) for batch in first] == [10, 10, 10]


def test_mistakes(tmp_path):
    with pytest.raises(DataError, match="at least 1"):
        iter_batches(tmp_path / "a.txt", batch=0)
    with pytest.raises(DataError, match="no such file"):
        list(iter_batches(tmp_path / "a.txt"))
    with pytest.raises(DataError, match="there is no format 'xml'"):
        iter_batches("a.txt", format="xml")
