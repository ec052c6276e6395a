"""fastText: what it is fed, and that one thread starts from a whole table."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from rankae.errors import DataError
from rankae.methods import registry

pytest.importorskip("fasttext")


def test_words_that_look_like_labels_are_words() -> None:
    texts = ["__label__1 apple", "bread"] * 20
    model = registry.create("fasttext", dim=8, random_state=0).fit(texts, [["A"], ["B"]] * 20)
    assert model.predict_top(["apple", "bread"], k=1)[0].ravel().tolist() == ["A", "B"]
    assert len(model.model_.get_labels()) == 2


def test_examples_hold_labels_then_known_words(tmp_path: Path) -> None:
    from rankae.rivals.fasttext import with_ngrams, write_examples

    lines = [with_ngrams(["red", "red", "wine"], 2), with_ngrams(["tea"], 2)]
    assert lines[0] == ["red", "red", "wine", "red|red", "red|wine"]
    write_examples(tmp_path / "t", lines, sp.csr_matrix([[0, 1, 1], [0, 0, 0]]), {"red", "red|wine"})
    assert (tmp_path / "t").read_text() == "__label__1 __label__2 red red red|wine\n"


def test_every_word_vector_starts_finite_and_small() -> None:
    texts = [f"word{i} word{i + 1}" for i in range(300)]
    model = registry.create("fasttext", dim=8, epochs=1, learning_rate=1e-6, random_state=0)
    table = model.fit(texts, [["A"], ["B"]] * 150).model_.get_input_matrix()
    assert table.shape == (302, 8)
    assert np.abs(table).max() <= 1 / 8 + 1e-3
    assert (np.abs(table) > 0).any(axis=1).all()


def test_divergence_is_one_sentence() -> None:
    texts = [f"a b c d{i % 7}" for i in range(200)]
    labels = [[i % 7, 10 + i % 3] for i in range(200)]
    with pytest.raises(DataError, match="fasttext diverged: lower its learning_rate of 1e\\+20"):
        registry.create("fasttext", learning_rate=1e20, dim=8, random_state=0).fit(texts, labels)


@pytest.mark.parametrize(("labels", "loss"), [(4000, "ova"), (4001, "hs")])
def test_many_labels_are_not_looked_at_one_by_one(labels: int, loss: str) -> None:
    model = registry.create("fasttext", dim=2, epochs=1, random_state=0)
    model.fit(["a"] * 3, sp.csr_matrix(([1.0] * 3, ([0, 1, 2], [0, 1, labels - 1])), shape=(3, labels)))
    assert model.model_.f.getArgs().loss.name == loss
