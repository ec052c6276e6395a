"""Which n-grams are chosen, and what is said about it."""

import numpy as np
import pytest
import scipy.sparse as sp

from rankae.recipe.text_choice import choose_text

COLOURS = ("red", "green", "blue", "grey")
BOTH = [(1, 1), (1, 2)]


def rows_of_labels(columns):
    return sp.csr_matrix(np.eye(max(columns) + 1, dtype=np.float32)[columns])


@pytest.fixture
def texts():
    random = np.random.default_rng(0)
    return [" ".join(random.permutation(COLOURS)) for _ in range(400)]


def test_pairs_are_chosen_where_the_order_of_words_says_the_label(texts):
    labels = rows_of_labels([int("red green" in text) for text in texts])
    text, rows, said = choose_text(texts, labels, BOTH)
    assert text.ngrams == (1, 2)
    assert rows.shape == (400, len(text.words))
    assert said.startswith("(1, 2) (best leave-one-out precision of (1, 1): ")


def test_words_are_chosen_where_pairs_tell_nothing_more():
    random = np.random.default_rng(0)
    columns = random.integers(0, 4, 300).tolist()
    texts = [f"{COLOURS[c]} n{random.integers(40)} n{random.integers(40)}" for c in columns]
    assert choose_text(texts, rows_of_labels(columns), BOTH)[0].ngrams == (1, 1)


def test_a_single_candidate_is_taken_as_it_is(texts):
    text, _, said = choose_text(texts, rows_of_labels([0, 1] * 200), [(1, 2)], max_features=5)
    assert len(text.words) == 5
    assert said == "(1, 2) (as set); 5 features"


def test_trusted_rows_choose_where_there_are_some(texts):
    by_order = rows_of_labels([int("red green" in text) for text in texts])
    trusted = texts[:50], sp.csr_matrix(np.tile([1, 0], (50, 1)).astype(np.float32))  # the order says nothing
    assert choose_text(texts, by_order, BOTH)[0].ngrams == (1, 2)
    text, _, said = choose_text(texts, by_order, BOTH, trusted=trusted)
    assert text.ngrams == (1, 1)
    assert said.startswith("(1, 1) (best precision on trusted rows of (1, 1): ")
