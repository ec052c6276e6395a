"""CBM and CRF: labels that go together are predicted together, which independent classifiers cannot do."""

from __future__ import annotations

from itertools import chain, combinations

import numpy as np
import pytest
import scipy.sparse as sp

from rankae.methods import create
from rankae.rivals.cbm import _best_set, _sets_in_order
from rankae.rivals.crf import distinct_sets, pair_states, pairs_beyond_chance


def one_of_two(rows: int, seed: int = 0) -> tuple[sp.csr_matrix, sp.csr_matrix]:
    """Rows that cannot tell {a, b} from {c}, of which {a, b} is a little rarer: the best set is never a mixture."""
    random = np.random.default_rng(seed)
    first = random.random(rows) < 0.45
    labels = np.stack([first, first, ~first], axis=1).astype(np.float32)
    features = np.ones((rows, 2), np.float32) + 0.01 * random.random((rows, 2), dtype=np.float32)
    return sp.csr_matrix(features), sp.csr_matrix(labels)


@pytest.mark.parametrize(("name", "settings"), [("cbm", {"components": 2}), ("crf", {})])
def test_the_most_probable_set_is_one_that_occurs(name, settings):
    X, Y = one_of_two(600)
    model = create(name, epochs=10, **settings).fit(X, Y)
    sets = {tuple(labels) for labels in model.predict_sets(X[:50])}
    assert sets <= {(0, 1), (2,)}
    marginals = model.predict_top(X[:50], 3)[1]
    assert np.allclose(np.sort(marginals, axis=1), [[0.45, 0.45, 0.55]] * 50, atol=0.12)


def test_the_best_set_of_a_mixture_is_found():
    random = np.random.default_rng(0)
    for _ in range(20):
        logits, log_pi = random.normal(size=(3, 6)), np.log(random.dirichlet(np.ones(3)))

        def probability(members, logits=logits, log_pi=log_pi):
            y = np.isin(np.arange(6), members)
            return np.exp(log_pi + (logits * y).sum(1) - np.logaddexp(0, logits).sum(1)).sum()

        every = chain.from_iterable(combinations(range(6), size) for size in range(7))
        best = max(map(probability, every))
        assert probability(_best_set(log_pi, logits)) >= 0.98 * best


def test_sets_of_a_component_come_in_the_order_of_their_probability():
    logits = np.array([2.0, -0.5, 1.0, -3.0])
    cost = [sum(abs(logits[i]) for i in range(4) if (i in s) != (logits[i] > 0)) for s in _sets_in_order(logits, 8)]
    assert cost == sorted(cost)
    assert cost[:4] == [0.0, 0.5, 1.0, 1.5]


def test_pairs_and_their_states():
    labels = sp.csr_matrix([[1, 1, 0]] * 5 + [[0, 0, 1]] * 5 + [[1, 0, 1]], dtype=np.float32)
    sets, own = distinct_sets(labels)
    assert own.tolist() == [0] * 5 + [1] * 5 + [2]
    pairs = pairs_beyond_chance(labels, 10)
    assert pairs.tolist() == [[0, 1]]
    assert pair_states(sets, pairs).toarray().tolist() == [[0, 0, 1], [0, 0, 0], [1, 0, 0]]
