"""New rows and new labels without training from nothing."""

from __future__ import annotations

from copy import copy

import numpy as np
import pytest

from rankae import RankAE

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


def test_rows_without_any_new_label(trained):
    model = copy(trained).partial_fit(*rows(["fruit", "drink"], 50, 5))
    assert model.classes_.tolist() == trained.classes_.tolist()
    assert model.training_rows_ == 450
