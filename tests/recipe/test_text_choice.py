"""Which n-grams are chosen, and what is choices about it."""

import numpy as np
import pytest
import scipy.sparse as sp

from rankae.base.choices import describe
from rankae.data.word_embeddings import WordEmbeddings
from rankae.errors import DataError
from rankae.recipe.text_choice import TextCandidates, choose_text

COLOURS = ("red", "green", "blue", "grey")
BOTH = TextCandidates()


def rows_of_labels(columns):
    return sp.csr_matrix(np.eye(max(columns) + 1, dtype=np.float32)[columns])


@pytest.fixture
def texts():
    random = np.random.default_rng(0)
    return [" ".join(random.permutation(COLOURS)) for _ in range(400)]


def test_pairs_are_chosen_where_the_order_of_words_says_the_label(texts):
    labels = rows_of_labels([int("red green" in text) for text in texts])
    text, rows, choices = choose_text(texts, labels, BOTH)
    assert text.ngrams == (1, 2)
    assert rows.shape == (400, len(text.words))
    assert describe(choices["ngrams"]).startswith("(1, 2) (leave-one-out precision; more must gain ")


def test_words_are_chosen_where_pairs_tell_nothing_more():
    random = np.random.default_rng(0)
    columns = random.integers(0, 4, 300).tolist()
    texts = [f"{COLOURS[c]} n{random.integers(40)} n{random.integers(40)}" for c in columns]
    assert choose_text(texts, rows_of_labels(columns), BOTH)[0].ngrams == (1, 1)


def test_a_single_candidate_is_taken_as_it_is(texts):
    text, _, choices = choose_text(texts, rows_of_labels([0, 1] * 200), TextCandidates([(1, 2)], max_features=5))
    assert len(text.words) == 5
    assert {name: describe(one) for name, one in choices.items()} == {
        "ngrams": "(1, 2) (as set)",
        "vocabulary": "5 (features that the texts gave)",
    }


def test_trusted_rows_choose_where_there_are_some(texts):
    by_order = rows_of_labels([int("red green" in text) for text in texts])
    trusted = texts[:50], sp.csr_matrix(np.tile([1, 0], (50, 1)).astype(np.float32))  # the order says nothing
    assert choose_text(texts, by_order, BOTH)[0].ngrams == (1, 2)
    text, _, choices = choose_text(texts, by_order, BOTH, trusted=trusted)
    assert text.ngrams == (1, 1)
    assert describe(choices["ngrams"]).startswith("(1, 1) (precision on trusted rows; more must gain ")


def test_titles_have_words_of_their_own_where_they_say_the_label():
    pairs = np.random.default_rng(0).integers(0, 4, (400, 2)).tolist()
    texts, labels = [f"{COLOURS[a]}\n{COLOURS[b]}" for a, b in pairs], rows_of_labels([a for a, _ in pairs])
    text, rows, choices = choose_text(texts, labels, TextCandidates([(1, 1)], titles=(0, 0.5)))
    assert text.title == 0.5
    assert rows.shape == (400, 8)
    assert describe(choices["title"]).startswith("0.5 (leave-one-out precision; more must gain ")


def test_titles_are_words_like_others_where_they_say_nothing_more():
    random = np.random.default_rng(0)
    columns = random.integers(0, 4, 300).tolist()
    texts = [f"n{random.integers(40)} n{random.integers(40)}\n{COLOURS[c]}" for c in columns]
    assert choose_text(texts, rows_of_labels(columns), TextCandidates([(1, 1)], titles=(0, 0.5)))[0].title == 0


def test_texts_of_one_line_have_no_title_to_try(texts):
    labels = rows_of_labels([int("red green" in text) for text in texts])
    text, _, choices = choose_text(texts, labels, TextCandidates(titles=(0, 0.5)))
    assert text.title == 0
    assert "title" not in choices


def test_what_words_mean_is_looked_at_with_the_ngrams():
    """Words are rare and a third of the labels wrong, so words alone say little; what they mean says all."""
    random = np.random.default_rng(0)
    columns = random.integers(0, 2, 300).tolist()
    texts = [f"{'ab'[c]}{random.integers(40)} x{random.integers(40)}" for c in columns]
    asked = []

    def embeddings(words, _rows):
        asked.append(len(words))
        vectors = np.array([[w[0] == "a", w[0] == "b", w[0] == "x"] for w in words], dtype=np.float32)
        return [None, WordEmbeddings(vectors, "first letters")]

    learnt = rows_of_labels([c if random.random() > 0.35 else 1 - c for c in columns[:200]])
    trusted = texts[200:], rows_of_labels(columns)[200:]
    without = choose_text(texts[:200], learnt, BOTH, 0, trusted)[2]["ngrams"]
    choices = choose_text(texts[:200], learnt, TextCandidates(embeddings=embeddings), 0, trusted)[2]["ngrams"]
    assert len(asked) == 2
    assert choices["evidence"]["(1, 1)"] > without["evidence"]["(1, 1)"]


def test_a_row_that_is_no_text_is_told_by_its_number():
    with pytest.raises(DataError, match="row 2: a text was expected, not NoneType"):
        choose_text(["a\nb", "c\nd", None], rows_of_labels([0, 1, 0]), TextCandidates(titles=(0, 0.5)))


def test_pairs_must_gain_more_than_chance():
    random = np.random.default_rng(1)
    texts = [" ".join(random.choice(list("abcdefgh"), 6)) for _ in range(300)]
    drawn = rows_of_labels(random.integers(0, 2, 300).tolist())  # nothing tells these labels
    assert choose_text(texts, drawn, BOTH)[0].ngrams == (1, 1)


def test_candidates_are_compared_on_the_same_rows():
    """Pairs make copies look less alike; were their copies counted for pairs alone, pairs would win by memory."""
    random = np.random.default_rng(1)
    words = [f"w{i}" for i in range(300)]
    texts, columns = [], []
    for _ in range(100):  # each text, and the same words in another order: a near-duplicate by words, none by pairs
        own, column = random.choice(words, 12, replace=False), int(random.integers(0, 4))
        texts += [" ".join(own), " ".join(own[::-1])]
        columns += [column, column]
    texts += [" ".join(random.choice(words, 12, replace=False)) for _ in range(100)]
    columns += random.integers(0, 4, 100).tolist()
    assert choose_text(texts, rows_of_labels(columns), BOTH)[0].ngrams == (1, 1)


def test_pieces_are_read_where_they_say_the_label():
    random = np.random.default_rng(1)
    columns = random.integers(0, 4, 400).tolist()
    texts = [f"lib{COLOURS[c]}-{random.integers(10**6)} n{random.integers(40)}" for c in columns]
    candidates = TextCandidates([(1, 1)], pieces=(False, True))
    text, _, choices = choose_text(texts, rows_of_labels(columns), candidates)
    assert text.pieces
    assert describe(choices["pieces"]).startswith("True (leave-one-out precision; more must gain ")
    shuffled = rows_of_labels(random.permutation(columns).tolist())
    assert not choose_text(texts, shuffled, candidates)[0].pieces


def test_a_row_that_is_no_text_is_told_by_its_number_in_a_sample_too(monkeypatch):
    monkeypatch.setattr("rankae.data.near_duplicates._ENOUGH_TO_COMPARE", 50)
    texts = ["red", "green"] * 100
    assert choose_text(texts, rows_of_labels([0, 1] * 100), BOTH)[1].shape[0] == 200
    with pytest.raises(DataError, match="row 150: a text was expected, not int"):
        choose_text([*texts[:150], 7, *texts[151:]], rows_of_labels([0, 1] * 100), BOTH)
