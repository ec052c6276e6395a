"""New rows and new labels without training from nothing."""

from __future__ import annotations

from copy import copy

import numpy as np
import pytest
import scipy.sparse as sp

from rankae import RankAE
from rankae.components import update
from rankae.components.closed_form import ClosedForm
from rankae.components.neighbours import Neighbours
from rankae.components.rankers import Rankers
from rankae.components.stack import Stack
from rankae.data.unit_length import unit_rows
from rankae.numerics.conjugate_gradients import RidgeSolver
from rankae.numerics.shortlist import Shortlist

WORDS = {
    "fruit": ["apple", "pear", "plum", "cherry", "orchard"],
    "drink": ["wine", "beer", "juice", "bottle", "glass"],
    "tool": ["hammer", "saw", "drill", "nail", "bench"],
    "music": ["violin", "piano", "flute", "concert", "organ"],
    "sea": ["ship", "harbour", "wave", "anchor", "sailor"],
}


def rows(labels: list[str], count: int, seed: int) -> tuple[list[str], list[list[str]]]:
    rng = np.random.default_rng(seed)
    texts, carried = [], []
    for _ in range(count):
        own = sorted(rng.choice(labels, rng.integers(1, 3), replace=False).tolist())
        noise = rng.choice([word for words in WORDS.values() for word in words], 2).tolist()
        texts.append(" ".join([*(w for label in own for w in rng.choice(WORDS[label], 3).tolist()), *noise]))
        carried.append(own)
    return texts, carried


@pytest.fixture(scope="module", params=["fast", pytest.param("with a network", marks=pytest.mark.slow)])
def trained(request):
    sizes = {"network": 1, "epochs": 15, "word_size": 32} if request.param == "with a network" else {"network": 0}
    return RankAE("fast", threads=1, **sizes).fit(*rows(["fruit", "drink", "tool"], 400, 0))


def test_new_labels_are_found_and_old_ones_are_kept(trained, tmp_path):
    trained.save(tmp_path / "old")
    model = RankAE.load(tmp_path / "old")
    old_test, new_test = rows(["fruit", "drink", "tool"], 60, 1), rows(["music", "sea"], 60, 2)
    before = model.score(*old_test)
    texts, labels = rows(list(WORDS), 200, 3)
    model.partial_fit(texts, labels)
    assert model.classes_.tolist()[:3] == trained.classes_.tolist()
    assert set(model.classes_) == set(WORDS)
    assert model.score(*new_test) > 0.85
    assert model.score(*old_test) > before - 0.05
    model.save(tmp_path / "new")
    again = RankAE.load(tmp_path / "new")
    for found, saved in zip(model.predict_top(new_test[0], 3), again.predict_top(new_test[0], 3), strict=True):
        if found.dtype.kind == "f":
            np.testing.assert_allclose(found, saved, rtol=1e-5)
        else:
            np.testing.assert_array_equal(found, saved)


def test_probabilities_are_calibrated_again(trained, tmp_path):
    trained.save(tmp_path / "old")
    model = RankAE.load(tmp_path / "old")
    texts, labels = rows(list(WORDS), 200, 3)
    rows_before = len(model.held_out_)
    model.partial_fit(texts, labels)
    assert len(model.held_out_) == rows_before + 200
    near = trained.held_out_.nearest  # of training rows; new ones, added first, are as they come
    assert near.min() > 0
    np.testing.assert_array_equal(model.held_out_.nearest, [*[0] * 200, *near])
    _, _, probabilities = model.predict_top(texts, 3, proba=True)
    assert 0 <= probabilities.min() <= probabilities.max() <= 1


def test_the_model_that_was_updated_is_another_one(trained):
    texts, labels = rows(list(WORDS), 100, 4)
    before = trained.predict_top(texts, 3)[1]
    copy(trained).partial_fit(texts, labels)
    np.testing.assert_array_equal(trained.predict_top(texts, 3)[1], before)
    assert len(trained.classes_) == 3


def test_a_shrunk_model_learns_new_labels_too(trained):
    texts, labels = rows(list(WORDS), 200, 3)
    model = trained.shrunk("float16").partial_fit(texts, labels)
    assert model.score(*rows(["music", "sea"], 60, 2)) > 0.8
    assert model.model_.code.word_table.values.dtype == np.float16  # and stays small


def test_rows_without_any_new_label(trained):
    model = copy(trained).partial_fit(*rows(["fruit", "drink"], 50, 5))
    assert model.classes_.tolist() == trained.classes_.tolist()
    assert model.training_rows_ == 450


RIDGE = 2.0


@pytest.fixture
def counted():
    """Old and new rows of words that go together, and their labels."""
    rng = np.random.default_rng(0)
    topics = rng.integers(0, 4, 400)
    likely = rng.random((4, 30)) * 0.5
    words = sp.csr_matrix((rng.random((400, 30)) < likely[topics]) * rng.random((400, 30)), dtype=np.float32)
    labels = sp.csr_matrix(np.eye(4, dtype=np.float32)[topics])
    return (words[:300], labels[:300]), (words[300:], labels[300:])


def ridge_regression(rows, labels):
    return RidgeSolver(rows, RIDGE).solve(labels.toarray(), iterations=50, tolerance=1e-6)


def code_of(rows, labels, remembered=True):
    """A stack that is a code, with or without neighbours that remember its rows."""
    code = ClosedForm(ridge_regression(rows, labels), np.eye(4, dtype=np.float32), np.zeros(4, np.float32), {})
    counts = np.bincount(labels.indices, minlength=4).astype(np.float32)
    return Stack(code, counts, 4, neighbours=Neighbours.of(rows, labels, most_rows=1000) if remembered else None)


def distance_from_anew(stack, old, new):
    anew = ridge_regression(*(sp.vstack(both, format="csr") for both in zip(old, new, strict=True)))
    found = update.updated(stack, *new, ridge=RIDGE).code.word_table
    return np.abs(found - anew).max() / np.abs(anew - stack.code.word_table).max()


def test_the_code_becomes_the_one_that_is_trained_on_all_rows(counted):
    old, new = counted
    assert distance_from_anew(code_of(*old), old, new) < 0.01


def test_of_many_old_rows_a_sample_is_looked_at(counted, monkeypatch):
    old, new = counted
    with_all = distance_from_anew(code_of(*old), old, new)
    monkeypatch.setattr(update, "_OLD_ROWS", (100, 0))
    with_some = distance_from_anew(code_of(*old), old, new)
    assert with_all < with_some < 0.7 * distance_from_anew(code_of(*old, remembered=False), old, new)


def test_what_is_known_of_new_labels_comes_from_new_rows_alone(counted):
    old, (rows, labels) = counted
    of_new = labels[:, [0]]
    wide = sp.hstack([sp.csr_matrix((len(rows.indptr) - 1, 4)), of_new], format="csr", dtype=np.float32)
    code = update.updated(code_of(*old), rows, wide, ridge=RIDGE).code
    found = code.predict(rows).codes @ code.label_table[4]
    alone = rows @ ridge_regression(rows, of_new)[:, 0]
    np.testing.assert_allclose(found, alone, atol=0.01)


def test_rankers_of_labels_with_many_rows_before_move_less(counted):
    (old, labels), (new, of_new) = counted
    every = Shortlist.union([np.tile(np.arange(4, dtype=np.int32), (300, 1))])
    start = Rankers.train(old, labels, every)[0]
    settled = np.array([True, False, True, False])
    swapped = of_new[:, [1, 2, 3, 0]]  # so that new rows say something else
    listed = every.taken(np.arange(100))

    def moved(settled):
        found = start.updated(new, swapped, listed, settled=settled)
        return np.sqrt(np.square((found.weights - start.weights).toarray()).sum(1))

    some, none = moved(settled), moved(~settled & settled)
    assert (some[settled] < 0.9 * none[settled]).all()
    np.testing.assert_allclose(some[~settled], none[~settled], rtol=0.2)


def test_an_update_goes_on_with_what_training_chose():
    chosen = RankAE("fast", threads=1).fit(*rows(["fruit", "drink", "tool"], 300, 0))
    assert chosen._regularisation() == {"ridge": 1.0, "cost": chosen.choices_["ranker_cost"]["value"]}
    given = RankAE("fast", threads=1, ridge=3.0, ranker_cost=0.2).fit(*rows(["fruit", "drink", "tool"], 300, 0))
    assert given._regularisation() == {"ridge": 3.0, "cost": 0.2}


def test_rankers_become_those_that_are_trained_on_all_rows(counted):
    (old, labels), (new, of_new) = counted
    every = Shortlist.union([np.tile(np.arange(4, dtype=np.int32), (400, 1))])
    both = sp.vstack([old, new], format="csr"), sp.vstack([labels, of_new], format="csr")
    anew = Rankers.train(*both, every)[0]
    start = Rankers.train(old, labels, every.taken(np.arange(300)))[0]

    def distance(remembered):
        stack = code_of(old, labels, remembered)
        stack.rankers = start
        found = update.updated(stack, new, of_new, ridge=RIDGE).rankers
        return np.abs((found.weights - anew.weights).toarray()).max()

    assert distance(remembered=True) < 0.3 * distance(remembered=False)


def test_rows_before_an_update_say_nothing_of_the_labels_that_came_with_it(tmp_path):
    """They may well be about them, and nobody had the label to give."""
    texts, labels = rows(["fruit", "drink", "sea"], 400, 0)
    before = [[label for label in own if label != "sea"] or ["fruit"] for own in labels]  # about the sea, unlabelled
    model = RankAE("fast", threads=1).fit(texts[:300], before[:300])
    model.partial_fit(*rows(["fruit", "drink", "sea"], 80, 1))
    assert model.model_.first_rows().tolist() == [0, 0, 300]
    model.save(tmp_path / "model")
    model = RankAE.load(tmp_path / "model").partial_fit(*rows(["fruit", "drink"], 60, 2))  # none about the sea
    assert model.model_.first_rows().tolist() == [0, 0, 300]
    assert model.predict_top(["a ship in the harbour, an anchor and a wave"], 1)[0].tolist() == [["sea"]]


def test_words_that_are_too_frequent_for_the_neighbours_are_remembered(tmp_path):
    """Not their weights, but who has them: what is missing of a row's length is theirs."""
    rng = np.random.default_rng(0)
    often = rng.random((300, 3)) < 0.8  # three words that most rows have, then some that few have
    seldom = rng.random((300, 40)) < 0.1
    weights = np.hstack([often * [0.2, 0.3, 0.5], seldom * rng.random((300, 40))]) + 1e-6 * rng.random((300, 43))
    weights[weights < 1e-5] = 0
    rows = unit_rows(sp.csr_matrix(weights, dtype=np.float32))
    neighbours = Neighbours.of(rows[:200], sp.csr_matrix(np.ones((200, 1), np.float32)), most_rows=100)
    assert not neighbours.search.followed[:3].any()
    more = neighbours.updated(rows[200:], sp.csr_matrix(np.ones((100, 1), np.float32)))
    settings, arrays = more.state()
    remembered = Neighbours.from_state(settings, arrays).remembered()
    missing = np.linalg.norm((more.search.matrix() - rows).toarray(), axis=1).mean()
    assert np.linalg.norm((remembered - rows).toarray(), axis=1).mean() < 0.2 * missing
