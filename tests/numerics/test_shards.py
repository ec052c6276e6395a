"""Work in shards gives bit for bit what the same work gives in one piece."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from rankae.components.neighbours import Neighbours
from rankae.components.rankers import Rankers
from rankae.data import make_dataset
from rankae.numerics.conjugate_gradients import RidgeSolver
from rankae.numerics.shards import HERE, even_spans, sharing, weighted_spans, workers_for
from rankae.numerics.shortlist import Shortlist


class Elsewhere:
    """Three shards at least, each from copies of what is shared, done twice and in the wrong order."""

    least = 0.0

    def __init__(self) -> None:
        self.steps: list[str] = []

    def shards(self, least: int) -> int:
        return max(3, least)

    def map(self, step, work, shared, settings, spans) -> Iterator[Any]:
        self.steps.append(step)
        copies = {name: value.copy() for name, value in shared.items()}
        work(copies, settings, spans[0])
        found = {span: work(copies, settings, span) for span in reversed(spans)}
        return (found[span] for span in spans)


@pytest.fixture(scope="module")
def data() -> tuple[sp.csr_matrix, sp.csr_matrix]:
    train, _ = make_dataset(rows=400, labels=60, features=1000, text=False)
    train.features.sort_indices()
    return train.features, train.labels


def test_rankers(data):
    rows, labels = data
    rng = np.random.default_rng(0)
    fold = np.where(rng.random(400) < 0.2, 0, -1)
    lists = [Shortlist.union([rng.integers(0, 60, (400, 12)).astype(np.int32)]) for _ in range(2)]
    before, _ = Rankers.train(rows, labels, lists[1])
    for start in (None, before):
        how = {"fold": fold, "without": lists[1:], "start": start, "seed": 3}
        alone, scores = Rankers.train(rows, labels, lists[0], **how)
        with sharing(Elsewhere()):
            shared, shared_scores = Rankers.train(rows, labels, lists[0], **how)
        assert (alone.weights != shared.weights).nnz == 0
        np.testing.assert_array_equal(alone.biases, shared.biases)
        assert (scores != shared_scores).nnz == 0
        assert scores.nnz > 0


def test_ridge_regression(data):
    rows, _ = data
    targets = np.random.default_rng(1).standard_normal((400, 300)).astype(np.float32)
    solver = RidgeSolver(rows, 1.0)
    start = solver.solve(targets, iterations=2)
    for own in (None, start):
        alone = solver.solve(targets, own)
        with sharing(Elsewhere()):
            np.testing.assert_array_equal(solver.solve(targets, own), alone)


def test_neighbours(data):
    rows, labels = data
    part = Neighbours.of(rows, labels)
    alone = part.nearest(rows, leave_one_out=True)
    elsewhere = Elsewhere()
    with sharing(elsewhere):
        for own, other in zip(alone, part.nearest(rows, leave_one_out=True), strict=True):
            np.testing.assert_array_equal(own, other)
        part.nearest(rows[:5])
    assert elsewhere.steps == ["neighbours"]  # new rows are looked up here


def test_spans_cover_everything_once():
    for spans in (even_spans(10, 4), even_spans(3, 8), weighted_spans(np.array([9, 1, 1, 1, 8, 1]), 3)):
        assert spans[0][0] == 0
        assert spans[-1][1] in (10, 3, 6)
        assert all(a[1] == b[0] and a[0] < a[1] for a, b in pairwise(spans))
    assert weighted_spans(np.ones(6), 3) == [(0, 2), (2, 4), (4, 6)]


def test_small_work_stays_here():
    others = Elsewhere()
    others.least = 1e6
    with sharing(others):
        assert workers_for(1e6) is others
        assert workers_for(1e5) is HERE
    assert workers_for(1e9) is HERE
