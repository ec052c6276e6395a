"""Rows that have vectors besides words: what is nearest by both."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from rankae.components.neighbours import Neighbours
from rankae.data.unit_length import unit_rows
from rankae.data.vectors import side_by_side, unit
from rankae.errors import ModelFileError
from rankae.numerics.row_search import RowSearch

WORDS, TOPICS, SIZE = 300, 6, 20


@pytest.fixture
def rows():
    """Rows of random words whose vectors tell one of a few topics, beside what all vectors have in common."""
    random = np.random.default_rng(0)
    words = sp.random(240, WORDS, 0.02, format="csr", dtype=np.float32, random_state=random)
    topic = np.arange(240) % TOPICS
    vectors = 3 + np.eye(TOPICS, SIZE)[topic] + 0.1 * random.standard_normal((240, SIZE))
    return unit_rows(side_by_side(unit_rows(words), unit(vectors).astype(np.float32))), topic


def test_vectors_tell_what_is_near_though_every_row_has_them(rows):
    matrix, topic = rows
    search = RowSearch.over(matrix, most_rows=30)
    assert search.vectors is not None
    found, cosine = search.nearest(matrix, 5, leave_one_out=True)
    assert not (found == np.arange(240)[:, None]).any()
    assert (topic[found] == topic[:, None]).mean() > 0.9
    assert (np.diff(cosine, axis=1) <= 0).all()
    assert cosine.max() <= 1 + 1e-5
    assert RowSearch.over(matrix[:, :WORDS], most_rows=30).vectors is None


def test_a_row_is_as_near_as_words_and_vectors_say(rows):
    matrix, _ = rows
    found, cosine = RowSearch.over(matrix).nearest(matrix, 1)
    np.testing.assert_array_equal(found[:, 0], np.arange(240))
    np.testing.assert_allclose(cosine[:, 0], 1, atol=1e-5)


def test_neighbours_of_some_rows_are_near_by_vectors_too(rows):
    matrix, topic = rows
    labels, kept = sp.csr_matrix(np.eye(TOPICS, dtype=np.float32)[topic]), np.arange(240) % 5 > 0
    every, some = Neighbours.of(matrix, labels), Neighbours.of(matrix, labels).of_rows(kept)
    nearest, cosine = every.search.nearest(matrix[~kept], 240)
    expected = [own[kept[rows]][0] for rows, own in zip(nearest, cosine, strict=True)]
    np.testing.assert_allclose(some.nearest(matrix[~kept])[1][:, 0], expected, atol=1e-5)
    assert (some.predict(matrix[~kept]).propose(1)[:, 0] == topic[~kept]).mean() > 0.9


def test_neighbours_with_vectors_are_saved_shrunk_and_grow(rows):
    matrix, topic = rows
    labels = sp.csr_matrix(np.eye(TOPICS, dtype=np.float32)[topic])
    half = Neighbours.of(matrix[:120], labels[:120])
    restored = Neighbours.from_state(*half.state())
    np.testing.assert_array_equal(restored.nearest(matrix[120:])[0], half.nearest(matrix[120:])[0])
    np.testing.assert_allclose(half.shrunk("int8").nearest(matrix[120:])[1], half.nearest(matrix[120:])[1], atol=0.02)
    grown = half.updated(matrix[120:], labels[120:])
    np.testing.assert_array_equal(grown.nearest(matrix[120:])[0][:, 0], np.arange(120, 240))
    settings, arrays = half.state()
    with pytest.raises(ModelFileError, match="contradict"):
        Neighbours.from_state(settings, arrays | {"vector_table": arrays["vector_table"][:7]})
