"""Data in the shape of a large set: published counts and means, and weights that read back as they were written."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from rankae.data import load_dataset
from rankae.data.formats.xmc_digits import rounded, xmc_bytes
from rankae.data.generate_like import write_like
from rankae.data.shapes import SHAPES, shape_of
from rankae.errors import DataError


def test_published_means_survive_the_scale(tmp_path):
    shape = shape_of("Amazon-670K").scaled(0.01)
    assert (shape.rows, shape.labels) == (4904, 6701)
    assert shape.features < SHAPES["amazon-670k"].features
    made = write_like(shape, tmp_path)
    train, test = load_dataset(str(tmp_path), "train"), load_dataset(str(tmp_path), "test")
    assert (len(train), train.n_labels, train.n_features) == (made["train"], made["labels"], made["features"])
    assert len(test) == shape.test_rows
    assert train.labels.nnz / len(train) == pytest.approx(5.45, rel=0.05)
    assert train.features.nnz / len(train) == pytest.approx(75.7, rel=0.05)
    np.testing.assert_allclose(np.sqrt(train.features.multiply(train.features).sum(axis=1)), 1, atol=2e-3)
    often = np.bincount(train.labels.indices, minlength=train.n_labels)
    assert 0.08 < (often > 5).mean() < 0.3  # 100,000 of 670,000 labels in the original


def test_the_head_of_zipf_is_heavier_than_amazons(tmp_path):
    heads = {}
    for name in ("amazoncat-13k", "amazon-670k"):
        shape = replace(shape_of(name).scaled(0.002), labels=500, words_per_row=10.0)
        write_like(shape, tmp_path / name)
        counts = np.sort(np.bincount(load_dataset(str(tmp_path / name), "train").labels.indices, minlength=500))
        heads[name] = counts[-10:].sum() / counts.sum()
    assert heads["amazoncat-13k"] > 2 * heads["amazon-670k"]


def test_same_seed_same_bytes(tmp_path):
    shape = shape_of("wiki-500k").scaled(0.0001)
    for folder, seed in (("one", 3), ("same", 3), ("other", 4)):
        write_like(shape, tmp_path / folder, seed)
    one, same, other = ((tmp_path / folder / "train.txt").read_bytes() for folder in ("one", "same", "other"))
    assert one == same
    assert one != other


def test_bytes_read_back(tmp_path):
    features = sp.csr_matrix(np.array([[0.25, 0, 1.0], [0, 0, 0], [0.00001, 0.98765, 0]], np.float32))
    labels = sp.csr_matrix(np.array([[1, 0, 1], [0, 1, 0], [0, 0, 0]], np.float32))
    (tmp_path / "train.txt").write_bytes(b"3 3 3\n" + xmc_bytes(labels, features))
    read = load_dataset(str(tmp_path / "train.txt"))
    assert (read.labels != labels).nnz == 0
    np.testing.assert_array_equal(read.features.toarray(), rounded(features).toarray())


@pytest.mark.parametrize("factor", [0, -1, 1000, float("nan")])
def test_a_scale_that_means_nothing(factor):
    with pytest.raises(DataError, match="scale"):
        shape_of("amazon-670k").scaled(factor)


def test_an_unknown_shape_names_the_known_ones():
    with pytest.raises(DataError, match="amazoncat-13k, wiki-500k, amazon-670k"):
        shape_of("amazon-3m")
