"""What every method owes its user, whatever it is: one set of tests, run on each name of the registry."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp

from rankae.errors import DataError
from rankae.methods import METHODS, registry

TOPICS = ["apple", "bread", "cheese", "dates", "eggs", "flour"]
LABELS = [f"likes-{topic}" for topic in TOPICS]
FILLER = ["today", "we", "bought", "some", "more", "of", "it", "again"]
ROWS = 150

# Smaller than the defaults where those would take long; nothing here makes a method easier to satisfy.
SMALL = {
    "bow-cnn": {"units": 32, "epochs": 20},
    "xml-cnn": {"dim": 16, "filters": 16, "bottleneck": 32, "epochs": 40, "learning_rate": 1e-2},
    "c2ae": {"hidden": 64, "epochs": 25, "learning_rate": 1e-2, "batch_size": 32, "patience": 20},
    "fasttext": {"dim": 16},
}
FLOORS = {"popular"}


@pytest.fixture(params=registry.names())
def name(request: pytest.FixtureRequest) -> str:
    if METHODS[request.param].extra_package:
        pytest.importorskip(METHODS[request.param].extra_package)
    return request.param


def new_model(name: str, seed: int = 0):
    model = registry.create(name, **SMALL.get(name, {}))
    return model.set_params(random_state=seed) if "random_state" in model.get_params() else model


@cache
def fitted(name: str):
    """A model fitted on the toy texts, shared by the tests that only ask it."""
    return new_model(name).fit(*toy())


def toy(rows: int = ROWS, seed: int = 0) -> tuple[list[str], list[list[str]]]:
    """Texts that name one or two topics among filler, labelled by exactly the topics they name."""
    random = np.random.default_rng(seed)
    texts, labels = [], []
    for _ in range(rows):
        chosen = random.choice(len(TOPICS), size=random.integers(1, 3), replace=False)
        words = [TOPICS[i] for i in chosen] * 2 + list(random.choice(FILLER, 4))
        random.shuffle(words)
        texts.append(" ".join(words))
        labels.append([LABELS[i] for i in chosen])
    return texts, labels


def as_matrix(texts: list[str]) -> sp.csr_matrix:
    column = {word: i for i, word in enumerate(TOPICS + FILLER)}
    counts = sp.lil_matrix((len(texts), len(column)), dtype=np.float32)
    for row, text in enumerate(texts):
        for word in text.split():
            counts[row, column[word]] += 1
    return counts.tocsr()


def test_finds_the_known_answer(name: str) -> None:
    model = fitted(name)
    unseen, truth = toy(40, seed=1)
    best, scores = model.predict_top(unseen, k=3)
    assert best.shape == scores.shape == (40, 3)
    assert np.all(np.diff(scores, axis=1)[np.isfinite(scores[:, 1:])] <= 0), "scores must fall"
    right = np.mean([first in row for first, row in zip(best[:, 0], truth, strict=True)])
    assert right >= (0.1 if name in FLOORS else 0.9)


def test_a_matrix_and_an_indicator_do_as_well_as_texts_and_lists(name: str) -> None:
    if METHODS[name].reads == "text":
        pytest.skip("reads raw text only")
    texts, labels = toy()
    indicator = sp.csr_matrix([[label in row for label in LABELS] for row in labels], dtype=np.int64)
    model = new_model(name).fit(as_matrix(texts), indicator)
    unseen, truth = toy(40, seed=1)
    columns, _ = model.predict_top(as_matrix(unseen), k=1)
    right = np.mean([LABELS[first] in row for first, row in zip(columns[:, 0], truth, strict=True)])
    assert right >= (0.1 if name in FLOORS else 0.9)
    predicted = model.predict(as_matrix(unseen))
    assert predicted.shape == (40, len(LABELS))
    assert predicted.sum(axis=1).min() >= 1


def test_reads_what_the_registry_says(name: str) -> None:
    assert registry.class_of(name).reads == METHODS[name].reads


def test_a_loaded_model_answers_exactly_as_the_saved_one(name: str, tmp_path) -> None:
    model = fitted(name)
    model.save(tmp_path / "model")
    loaded = registry.load(tmp_path / "model")
    assert type(loaded) is type(model)
    unseen, _ = toy(20, seed=2)
    assert model.predict(unseen) == loaded.predict(unseen)
    loaded.save(tmp_path / "again")  # a loaded model is a whole one
    for other in (loaded, registry.load(tmp_path / "again")):
        before, after = model.predict_top(unseen, k=4), other.predict_top(unseen, k=4)
        np.testing.assert_array_equal(before[0], after[0])
        # The last digit may differ: BLAS goes by the alignment of arrays, omikuji by the order of its files.
        np.testing.assert_allclose(before[1], after[1], rtol=1e-6, atol=1e-6)


def test_the_same_seed_gives_the_same_model(name: str) -> None:
    if not METHODS[name].repeatable:
        pytest.skip("the library underneath offers no seed")
    texts, labels = toy(80)
    first, second = (new_model(name, seed=3).fit(texts, labels).predict_top(texts, k=3) for _ in range(2))
    np.testing.assert_array_equal(first[0], second[0])
    np.testing.assert_array_equal(first[1], second[1])


def test_fitting_leaves_global_random_numbers_alone(name: str) -> None:
    texts, labels = toy(60)
    np.random.seed(0)
    before = np.random.get_state()[1].copy()
    new_model(name).fit(texts, labels)
    np.testing.assert_array_equal(before, np.random.get_state()[1])


def test_rows_without_words_or_labels_do_no_harm(name: str) -> None:
    texts, labels = toy()
    texts += ["", "!?", "apple"]
    labels += [["likes-apple"], [], []]
    model = new_model(name).fit(texts, labels)
    best, scores = model.predict_top(["", "unheard words", "cheese cheese"], k=2)
    assert best.shape == (3, 2)
    assert not np.isnan(scores).any()
    if name not in FLOORS:
        assert best[2, 0] == "likes-cheese"


def test_labels_that_no_row_or_every_row_carries(name: str) -> None:
    texts, labels = toy()
    indicator = np.array([[label in row for label in LABELS] + [False, True] for row in labels], dtype=int)
    model = new_model(name).fit(texts if METHODS[name].reads == "text" else as_matrix(texts), indicator)
    # Three places: a row has at most two topics besides the label of every row.
    columns, _ = model.top_columns(texts[:20] if METHODS[name].reads == "text" else as_matrix(texts[:20]), k=3)
    assert np.mean((columns == len(LABELS) + 1).any(axis=1)) >= 0.9, "the label of every row must be named"
    assert not (columns[:, 0] == len(LABELS)).any(), "a label never seen must not be named first"


def test_more_labels_asked_than_exist(name: str) -> None:
    texts, _ = toy()
    columns, scores = fitted(name).top_columns(texts[:10], k=100)
    assert columns.shape == scores.shape == (10, len(LABELS))
    assert columns.dtype == np.int32
    assert scores.dtype == np.float32
    for row in columns:
        named = row[row >= 0]
        assert len(set(named.tolist())) == len(named), "a label must be named once"
    assert np.all(np.isneginf(scores[columns < 0]))


def test_decision_function_agrees_with_the_ranking(name: str) -> None:
    texts, _ = toy()
    model = fitted(name)
    dense = model.decision_function(texts[:10])
    columns, scores = model.top_columns(texts[:10], k=2)
    assert dense.shape == (10, len(LABELS))
    np.testing.assert_allclose(np.take_along_axis(dense, columns, axis=1), scores, rtol=1e-5)


def test_no_rows_get_no_answers(name: str) -> None:
    best, scores = fitted(name).predict_top([], k=2)
    assert best.shape == scores.shape == (0, 2)


def test_the_answer_to_a_row_does_not_depend_on_its_company(name: str) -> None:
    texts, _ = toy()
    model = fitted(name)
    together = model.predict_top([texts[0], "bread " * 60, texts[1]], k=3)
    alone = model.predict_top([texts[0]], k=3)
    np.testing.assert_array_equal(together[0][0], alone[0][0])
    np.testing.assert_allclose(together[1][0], alone[1][0], rtol=1e-4, atol=1e-5)


def test_the_wrong_kind_of_input_is_one_sentence(name: str) -> None:
    texts, labels = toy(60)
    if METHODS[name].reads == "text":
        with pytest.raises(DataError, match="reads raw text"):
            new_model(name).fit(as_matrix(texts), labels)
        with pytest.raises(DataError, match="reads raw text"):
            fitted(name).predict_top(as_matrix(texts))
    else:
        with pytest.raises(DataError, match="trained on a feature matrix"):
            new_model(name).fit(as_matrix(texts), labels).predict_top(texts)
        with pytest.raises(DataError, match="trained on raw text"):
            fitted(name).predict_top(np.ones((1, 3)))
    with pytest.raises(DataError, match="60 rows but 59"):
        new_model(name).fit(texts, labels[:-1])
