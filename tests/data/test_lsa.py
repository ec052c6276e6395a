import numpy as np
import pytest
import scipy.sparse as sp

from rankae import RankAE
from rankae.base.choices import describe
from rankae.data import load_dataset
from rankae.data.lsa import lsa_embeddings, side_by_side
from rankae.data.noise import noisy_labels
from rankae.data.text import TextFeatures
from rankae.data.word_embeddings import WordEmbeddings
from rankae.errors import RankaeError
from rankae.metrics import row_merits
from rankae.numerics.sparse_product import sparse_product
from rankae.numerics.top_k import top_k
from rankae.paper.closed_form import warm_start

TOPICS, WORDS = 4, 60


@pytest.fixture
def rows() -> sp.csr_matrix:
    """Each row has a few words of one topic, word w being of topic w % TOPICS, and at last one that all rows have."""
    rng = np.random.default_rng(0)
    found = np.zeros((400, WORDS + 1), dtype=np.float32)
    for row in found:
        row[rng.choice(np.arange(rng.integers(TOPICS), WORDS, TOPICS), 5, replace=False)] = 1
        row[-1] = 2
    return sp.csr_matrix(found / 3)


def test_words_that_occur_together_point_the_same_way(rows):
    embeddings = lsa_embeddings(rows)
    assert embeddings.source == f"{WORDS} directions of the rows themselves"
    np.testing.assert_allclose(np.linalg.norm(embeddings.vectors, axis=1), 1, atol=1e-4)
    # Among few words, the leading directions are the topics, and the others what is left.
    leading = embeddings.vectors[:WORDS, : TOPICS - 1]
    leading = leading / np.linalg.norm(leading, axis=1, keepdims=True)
    alike = leading @ leading.T
    same = np.equal.outer(np.arange(WORDS) % TOPICS, np.arange(WORDS) % TOPICS)
    assert alike[same].min() > alike[~same].max()


def test_a_word_of_no_row_means_nothing(rows):
    wider = sp.hstack([rows, sp.csr_matrix((rows.shape[0], 2000), dtype=np.float32)], format="csr")
    vectors = lsa_embeddings(wider).vectors
    assert vectors.shape == (WORDS + 2001, 100)
    assert np.isfinite(vectors).all()
    assert not vectors[WORDS + 1 :].any()


def test_one_row_has_no_directions():
    assert lsa_embeddings(sp.csr_matrix(np.ones((1, 5), dtype=np.float32))).vectors.shape == (5, 0)


def test_two_sources_are_heard_both():
    one, other = (
        WordEmbeddings(np.eye(2, dtype=np.float32), "a file"),
        WordEmbeddings(np.ones((2, 1), np.float32), "rows"),
    )
    both = side_by_side(one, other)
    assert both.source == "a file, and rows"
    np.testing.assert_array_equal(both.vectors @ both.vectors.T, [[2, 1], [1, 2]])


def test_the_user_may_ask_for_them_or_for_none():
    texts = [f"{color} {thing}" for color in ("red", "green", "blue") for thing in ("apple", "car")] * 5
    labels = [text.split() for text in texts]
    assert "rows themselves (as set)" in describe(
        RankAE(word_vectors="own").fit(texts, labels).choices_["word_vectors"]
    )
    assert "word_vectors" not in RankAE(word_vectors="none").fit(texts, labels).choices_
    with pytest.raises(RankaeError, match="name a file"):
        RankAE("paper", word_vectors="own").fit(texts, labels)


def test_trusted_rows_may_choose_them(rows, monkeypatch):
    monkeypatch.setattr("rankae.methods.features.find_glove", lambda: None)
    labels = np.eye(TOPICS)[rows[:, :WORDS].toarray().argmax(1) % TOPICS]
    check = rows[300:], labels[300:]
    model = RankAE(network=0).fit(rows[:300], labels[:300], trusted=check)
    assert len(model.choices_["word_vectors"]["evidence"]) == 2
    assert "word_vectors" not in RankAE(network=0).fit(rows[:300], labels[:300]).choices_


def test_they_help_where_labels_of_film_plots_are_missing(real_data):
    films = load_dataset(real_data("tmdb-plots"), "train").take(slice(5000))
    rows = TextFeatures().fit_transform(films.texts)
    learn, check = np.arange(4000), np.arange(4000, 5000)
    labels = noisy_labels(films.labels[learn], "missing", 0.6, 0)
    merits = {}
    for name, embeddings in {"none": None, "own": lsa_embeddings(rows[learn])}.items():
        start = warm_start(rows[learn], labels, 20, 10.0, embeddings=embeddings)
        top = top_k(sparse_product(rows[check], start.word_table), start.label_table, None, 5)[0]
        merits[name] = row_merits(top, films.labels[check]).mean()
    assert merits["own"] > merits["none"] + 1
