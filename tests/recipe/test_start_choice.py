import numpy as np
import pytest
import scipy.sparse as sp

from rankae.base.choices import choice, describe
from rankae.data import load_dataset
from rankae.data.text import TextFeatures
from rankae.data.word_embeddings import WordEmbeddings, glove_embeddings
from rankae.metrics import row_merits
from rankae.numerics.sparse_product import sparse_product
from rankae.numerics.top_k import top_k
from rankae.paper.closed_form import warm_start
from rankae.recipe.notes import Training
from rankae.recipe.settings import RecipeSettings
from rankae.recipe.start_choice import StartChoice, chosen_by_held_out_rows, strongest_within_chance

WORDS, TOPICS, SHARED = 300, 5, 30


def chosen(labels: sp.csr_matrix, rows: sp.csr_matrix, candidates, **settings) -> StartChoice:
    return chosen_by_held_out_rows(rows, labels, RecipeSettings(**settings), candidates, Training())


def unit(rows: np.ndarray) -> sp.csr_matrix:
    return sp.csr_matrix((rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32))


@pytest.fixture
def topics():
    """Rows of one word of their topic, which few others have, and four that all topics share."""
    rng = np.random.default_rng(0)
    topic = rng.integers(TOPICS, size=300)
    rows = np.zeros((300, WORDS))
    for i, t in enumerate(topic):
        rows[i, rng.choice(np.arange(SHARED + t, WORDS, TOPICS))] = 1
        rows[i, rng.choice(SHARED, 4, replace=False)] = 1
    labels = sp.csr_matrix(np.eye(TOPICS, dtype=np.float32)[topic])
    return unit(rows), labels


def meaning(vectors: np.ndarray) -> WordEmbeddings:
    return WordEmbeddings(vectors.astype(np.float32), "made up")


def test_meanings_are_taken_where_they_help(topics):
    rows, labels = topics
    true = meaning(np.eye(TOPICS)[np.arange(WORDS) % TOPICS] * (np.arange(WORDS) >= SHARED)[:, None])
    found = chosen(labels, rows, [None, true])
    assert found.embeddings is true
    assert describe(found.choices["word_vectors"]).startswith("made up (precision; ")


def test_meanings_are_left_where_they_do_not(topics):
    rows, labels = topics
    wrong = np.random.default_rng(1).normal(size=(WORDS, 1))
    found = chosen(labels, rows, [None, meaning(np.sign(wrong))])
    assert found.embeddings is None
    assert describe(found.choices["word_vectors"]).startswith("none (precision; ")


def test_what_the_user_set_is_not_chosen(topics):
    rows, labels = topics
    wrong = meaning(np.ones((WORDS, 1)))
    found = chosen(labels, rows, [wrong], ridge=7.0, noise_rounds=2)
    assert (found.ridge, found.noise_rounds, found.embeddings) == (7.0, 2, wrong)
    assert found.choices == {"word_vectors": choice("word_vectors", "made up", "as set")}


def test_the_ridge_is_large_for_noise_and_small_for_signal():
    rng = np.random.default_rng(0)
    rows = sp.csr_matrix(np.eye(20, dtype=np.float32)[rng.integers(20, size=400)])
    noise = sp.csr_matrix((rng.random((400, 20)) < 0.1).astype(np.float32))
    mixed = sp.hstack([rows, sp.csr_matrix(rng.random((400, 60)).astype(np.float32))], format="csr")
    assert chosen(rows, rows, [None]).ridge <= chosen(noise, mixed, [None]).ridge


def test_glove_helps_on_film_plots(real_data):
    glove = next(real_data("glove").glob("*.txt*"))
    films = load_dataset(real_data("tmdb-plots"), "train").take(slice(3000))
    text = TextFeatures()
    rows = text.fit_transform(films.texts)
    found = chosen(films.labels, rows, [None, glove_embeddings(text.words, glove)])
    assert found.embeddings is not None


def test_a_weaker_ridge_must_gain_more_than_chance():
    rng = np.random.default_rng(0)
    usual = rng.normal(50, 30, 1000)
    noise, clear = usual + rng.normal(0.05, 10, 1000), usual + rng.normal(2, 10, 1000)
    assert strongest_within_chance({0.3: noise, 1.0: usual}) == 1.0
    assert strongest_within_chance({0.3: clear, 1.0: usual}) == 0.3
    assert strongest_within_chance({0.3: usual, 1.0: clear}) == 1.0
    assert strongest_within_chance({0.3: usual, 1.0: usual}) == 1.0  # where all rank alike there is no error either


def test_what_settings_are_chosen_by_is_what_rows_of_new_groups_will_score():
    """Groups of four rows, such as packages of one source, share words and a label that say nothing of other groups."""
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(240), 4)
    own, common, labels = np.zeros((960, 8 * 240)), np.zeros((960, 40)), np.zeros((960, 40), dtype=np.float32)
    topic, theirs = rng.integers(20, size=240)[group], 20 + rng.integers(20, size=240)[group]
    for i, g in enumerate(group):
        own[i, 8 * g + rng.choice(8, 7, replace=False)] = 1
        common[i, [2 * topic[i] + rng.integers(2), rng.integers(40)]] = 1
        labels[i, [topic[i], theirs[i]]] = 1
    rows, carried = unit(np.hstack([own, common])), sp.csr_matrix(labels)
    learn, new = np.flatnonzero(group < 120), np.flatnonzero(group >= 120)
    found = chosen(carried[learn], rows[learn], [None])
    promised = next(one["evidence"] for one in found.choices.values() if one["setting"] == "ridge")
    start = warm_start(rows[learn], carried[learn], 40, found.ridge)
    ranked = top_k(sparse_product(rows[new], start.word_table), start.label_table, None, 5)[0]
    assert abs(float(row_merits(ranked, carried[new]).mean()) - promised[str(found.ridge)]) < 6
