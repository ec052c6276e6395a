"""The approximate index finds nearly what the exact one finds, with exact scores, and survives being stored."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from rankae.errors import MissingExtra, ModelFileError
from rankae.numerics.label_index import ExactIndex, UsearchIndex, made_up_rows, measured_index, recall


@pytest.fixture(scope="module")
def labels() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    centres = rng.normal(0, 1, (30, 12))
    table = (centres[rng.integers(0, 30, 2000)] + 0.5 * rng.normal(0, 1, (2000, 12))).astype(np.float32)
    bias = rng.normal(0, 3, 2000).astype(np.float32)  # so large that an index without it would fail
    return table, bias, table[:100] + table[100:200]


@pytest.fixture(scope="module")
def index(labels) -> UsearchIndex:
    pytest.importorskip("usearch")
    return UsearchIndex.build(labels[0], labels[1])


def test_recall_is_what_was_asked_for_and_scores_are_exact(labels, index):
    table, bias, codes = labels
    found = index.tuned(codes, 10, 0.97)
    columns, scores = index.search(codes, 10)
    exact = ExactIndex(table, bias).search(codes, 10)[0]
    assert found == pytest.approx(recall(columns, exact))
    assert found >= 0.97
    np.testing.assert_allclose(
        scores, np.take_along_axis(codes @ table.T + bias, columns, axis=1), rtol=1e-4, atol=1e-4
    )
    assert np.all(np.diff(scores, axis=1) <= 0)


def test_a_wider_search_finds_more(labels, index):
    table, bias, codes = labels
    exact = ExactIndex(table, bias).search(codes, 10)[0]
    shares = []
    for index.expansion in (10, 400):
        shares.append(recall(index.search(codes, 10)[0], exact))
    assert shares[0] < shares[1]


def test_stored_and_restored(labels, index):
    table, bias, codes = labels
    index.expansion = 77
    again = UsearchIndex.restore(index.arrays(), table, bias)
    assert again.expansion == 77
    np.testing.assert_array_equal(again.search(codes, 5)[0], index.search(codes, 5)[0])
    with pytest.raises(ModelFileError, match="label index is damaged"):
        UsearchIndex.restore(index.arrays(), table[:-1], bias[:-1])


def test_more_labels_asked_than_there_are(labels):
    pytest.importorskip("usearch")
    table, bias, codes = labels
    few = UsearchIndex.build(table[:3], bias[:3])
    assert sorted(few.search(codes[:2], 9)[0][0].tolist()) == [0, 1, 2]


def test_figures_tell_recall_and_times(labels):
    pytest.importorskip("usearch")
    _, figures = measured_index(*labels, k=10, target=0.9, threads=1)
    assert figures["recall@10"] >= 0.9
    assert {"exact_us", "index_us", "expansion", "build_seconds"} <= figures.keys()


def test_made_up_rows_follow_the_labels_that_there_were():
    rows = made_up_rows(np.array([0, 5, 1, 0]), 200, seed=0)
    assert set(rows.data) == {1}
    assert rows[:, [0, 3]].nnz == 0
    assert rows[:, 1].nnz > rows[:, 2].nnz


def test_a_missing_package_is_one_sentence(labels, monkeypatch):
    monkeypatch.setitem(sys.modules, "usearch", None)
    with pytest.raises(MissingExtra, match=r"rankae\[ann\]"):
        UsearchIndex.build(labels[0], labels[1])
