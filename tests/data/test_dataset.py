from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from rankae.data import Dataset
from rankae.errors import DataError


def matrix(rows):
    return sp.csr_matrix(np.array(rows, dtype=np.float32))


def texts(names=("x", "y")):
    return Dataset(matrix([[1, 0], [1, 1]]), texts=["a", "b"], label_names=list(names))


def test_rows_are_the_texts_or_the_features():
    assert texts().rows == ["a", "b"]
    features = matrix([[1, 2, 3]])
    assert Dataset(matrix([[1]]), features).rows is features


def test_take_keeps_rows_together():
    data = texts().take([1, 0, 1])
    assert data.texts == ["b", "a", "b"]
    assert data.labels.toarray().tolist() == [[1, 1], [1, 0], [1, 1]]
    assert texts().take(np.array([False, True])).texts == ["b"]
    assert texts().take(slice(0, 1)).texts == ["a"]


def test_aligned_to_moves_columns_and_appends_unseen_labels():
    data = texts().aligned_to(np.array(["z", "y"], dtype=object))
    assert data.label_names == ["z", "y", "x"]
    assert data.labels.toarray().tolist() == [[0, 0, 1], [0, 1, 1]]


def test_aligned_to_goes_by_number_without_names():
    data = Dataset(matrix([[1, 0, 1]]), matrix([[1]])).aligned_to(np.arange(2))
    assert data.labels.toarray().tolist() == [[1, 0, 1]]
    assert data.label_names is None


def test_with_features_pads_and_drops():
    data = Dataset(matrix([[1]]), matrix([[1, 2, 3]]), feature_names=["a", "b", "c"])
    assert data.with_features(2).features.toarray().tolist() == [[1, 2]]
    assert data.with_features(2).feature_names == ["a", "b"]
    assert data.with_features(4).features.toarray().tolist() == [[1, 2, 3, 0]]
    assert data.with_features(3) is data


def test_parts_that_do_not_fit_are_refused():
    with pytest.raises(DataError, match="2 rows but 1 rows of labels"):
        Dataset(matrix([[1]]), texts=["a", "b"])
    with pytest.raises(DataError, match="either features or texts"):
        Dataset(matrix([[1]]))
    with pytest.raises(DataError, match="1 labels have 2 names"):
        Dataset(matrix([[1]]), texts=["a"], label_names=["x", "y"])
