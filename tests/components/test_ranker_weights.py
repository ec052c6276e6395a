"""The rankers as prediction reads them: bits, short vectors and searches give the same products."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from rankae.components.ranker_weights import RankerWeights
from rankae.components.rankers import Rankers
from rankae.errors import ModelFileError
from rankae.numerics.shortlist import Shortlist

WORDS = 5000


@pytest.fixture(scope="module")
def rankers() -> Rankers:
    """Vectors of 0 to 2,000 weights: none, some that are short, and some that are long enough for bits."""
    rng = np.random.default_rng(0)
    lengths = [0, 1, 30, 150, 237, 239, 600, 2000]
    words = [np.sort(rng.choice(WORDS, n, replace=False)) for n in lengths]
    weights = rng.normal(0, 1, sum(lengths)).astype(np.float32)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    matrix = sp.csr_matrix((weights, np.concatenate(words), starts), shape=(len(lengths), WORDS))
    return Rankers(matrix, rng.normal(0, 1, len(lengths)).astype(np.float32))


@pytest.fixture(scope="module")
def rows() -> sp.csr_matrix:
    """Rows of many words and of one: those for which a short vector is read through, and for which it is searched."""
    rng = np.random.default_rng(1)
    dense = np.zeros((4, WORDS), np.float32)
    for row, n in enumerate([400, 3, 1, 0]):
        dense[row, rng.choice(WORDS, n, replace=False)] = rng.normal(0, 1, n)
    dense[2] = 0
    dense[2, 63] = 1
    return sp.csr_matrix(dense)


@pytest.mark.parametrize(("precision", "tolerance"), [(None, 1e-5), ("float16", 1e-2), ("int8", 0.2)])
def test_scores_are_the_products(rankers, rows, precision, tolerance):
    weights = RankerWeights.of(rankers)
    assert weights.long.tolist() == [5, 6, 7]
    if precision is not None:
        weights = weights.shrunk(precision).shrunk(precision)  # a second time changes nothing
        assert weights.words.dtype == np.uint16
        assert len(weights.words) == 418  # of the short vectors alone
    everything = Shortlist.union([np.tile(np.arange(8, dtype=np.int32), (4, 1))])
    exact = (rows @ rankers.weights.T).toarray() + rankers.biases
    np.testing.assert_allclose(weights.scores(rows, everything).reshape(4, 8), exact, atol=tolerance * 20)
    stored = weights.rankers()
    exact = (rows @ stored.weights.T).toarray() + stored.biases
    np.testing.assert_allclose(weights.scores(rows, everything).reshape(4, 8), exact, atol=1e-4)


@pytest.mark.parametrize("precision", ["float32", "int8"])
def test_many_rows_get_the_scores_that_few_get(rankers, rows, precision):
    weights = RankerWeights.of(rankers)
    weights = weights if precision == "float32" else weights.shrunk(precision)
    many = sp.vstack([rows] * 50, format="csr")
    rng = np.random.default_rng(2)
    asked = Shortlist.union([rng.integers(-1, 8, (200, 5), dtype=np.int32)])  # of some rows few labels, or none
    few = [weights.scores(many[i], asked.taken(np.array([i]))) for i in range(200)]
    np.testing.assert_allclose(weights.scores(many, asked), np.concatenate(few), atol=1e-4)


def test_rankers_come_back(rankers):
    again = RankerWeights.of(rankers).shrunk("float16").rankers()
    np.testing.assert_array_equal(again.weights.indices, rankers.weights.indices)
    np.testing.assert_allclose(again.weights.data, rankers.weights.data, rtol=1e-3)


def test_a_damaged_state_is_refused(rankers, rows):
    settings, arrays = RankerWeights.of(rankers).shrunk("int8").state()
    RankerWeights.from_state(settings, arrays)
    for name, value in [
        ("words.low", arrays["words.low"] + 5000),
        ("bits", arrays["bits"] ^ 1),
        ("sizes", arrays["sizes"] + 9),
    ]:
        with pytest.raises(ModelFileError, match="contradict|inconsistent"):
            RankerWeights.from_state(settings, arrays | {name: value})
