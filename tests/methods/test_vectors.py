"""Vectors beside words: what they know is learnt, kept where it helps, and never taken from another encoder."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.sparse as sp

from rankae import RankAE, load_dataset
from rankae.base.choices import describe
from rankae.data.vectors import TextWithVector
from rankae.data.writing import write_dataset
from rankae.errors import DataError, RankaeError

QUIET = {"network": 0, "rankers": False, "tuning": False, "word_vectors": "none"}


def rows_with_vectors(n: int = 240, seed: int = 0) -> tuple[list[str], np.ndarray, list[list[str]]]:
    """Texts that say nothing, and vectors that say everything."""
    random = np.random.default_rng(seed)
    kinds = random.integers(4, size=n)
    texts = [" ".join(f"word{i}" for i in random.integers(30, size=6)) for _ in range(n)]
    vectors = np.eye(4, 6)[kinds] + 0.1 * random.standard_normal((n, 6))
    return texts, vectors, [[f"kind {kind}"] for kind in kinds]


def test_vectors_of_the_users_own_are_learnt_saved_and_asked_for_again(tmp_path):
    texts, vectors, labels = rows_with_vectors()
    model = RankAE(**QUIET).fit((texts[:200], vectors[:200]), labels[:200])
    assert model.score((texts[200:], vectors[200:]), labels[200:]) > 0.9
    assert "vector of weight" in describe(model.choices_["encoder"])
    model.save(tmp_path / "m")
    again = RankAE.load(tmp_path / "m")
    both = texts[200:], vectors[200:]
    np.testing.assert_array_equal(again.predict_top(both, 3)[1], model.predict_top(both, 3)[1])
    with pytest.raises(DataError, match="row 0: .* a vector of 6 numbers, and here there are none"):
        again.predict(texts[:2])
    with pytest.raises(DataError, match="here there are 3 numbers"):
        again.predict((texts[:2], vectors[:2, :3]))
    with pytest.raises(DataError, match="2 rows but 3 vectors"):
        again.predict((texts[:2], vectors[:3]))
    with pytest.raises(DataError, match="NaN"):
        again.predict((texts[:1], np.full((1, 6), np.nan)))


def test_vectors_that_say_nothing_are_left_out():
    random = np.random.default_rng(0)
    kinds = random.integers(4, size=200)
    texts = [f"kind{kind} word{i}" for kind, i in zip(kinds, random.integers(30, size=200), strict=True)]
    model = RankAE(**QUIET).fit((texts, random.standard_normal((200, 6))), [[f"kind {kind}"] for kind in kinds])
    assert describe(model.choices_["encoder"]).startswith("none")
    assert model.score(texts, [[f"kind {kind}"] for kind in kinds]) == 1  # and are not asked for again


def test_a_matrix_and_vectors_are_one_matrix():
    _, vectors, labels = rows_with_vectors()
    rows = sp.random(240, 20, 0.2, format="csr", dtype=np.float32, random_state=0)
    model = RankAE(**QUIET, scale=False).fit((rows[:200], vectors[:200]), labels[:200])
    assert model.n_features_in_ == 26
    assert model.score((rows[200:], vectors[200:]), labels[200:]) > 0.9


def test_vectors_come_from_jsonl_and_npz(tmp_path):
    texts, vectors, labels = rows_with_vectors(60)
    lines = [
        json.dumps({"text": text, "vector": vector.tolist(), "labels": own})
        for text, vector, own in zip(texts, vectors, labels, strict=True)
    ]
    (tmp_path / "train.jsonl").write_text("\n".join(lines))
    data = load_dataset(tmp_path / "train.jsonl")
    assert isinstance(data.take(slice(3, 5)).texts[0], TextWithVector)
    for name in ("again.npz", "again.jsonl"):
        write_dataset(data, tmp_path / name)
        again = load_dataset(tmp_path / name)
        assert again.texts == data.texts
        np.testing.assert_allclose([t.vector for t in again.texts], vectors, rtol=1e-6)
    image = tmp_path / "image.jsonl"
    image.write_text('{"vector": [1, 2], "labels": ["a"]}\n')
    assert load_dataset(image).texts == [""]
    for wrong in ('"x"', "[]", "[true]", "[1e999]", '["1"]'):
        image.write_text(f'{{"text": "a", "vector": {wrong}, "labels": ["a"]}}\n')
        with pytest.raises(DataError, match=r"line 1: 'vector'"):
            load_dataset(image)


def fruit_and_drink() -> tuple[list[str], list[list[str]]]:
    """Texts of two words, the second of which tells the label."""
    texts = ["red apple", "green apple", "green pear", "red pear", "red wine", "red beer", "green beer", "green wine"]
    return texts * 12, ([["fruit"]] * 4 + [["drink"]] * 4) * 12


@pytest.mark.parametrize("kind", ["bert", "static"])
def test_an_encoder_is_part_of_the_model_by_its_digest(encoders, tmp_path, monkeypatch, kind):
    folder = getattr(encoders, kind)()
    texts, labels = fruit_and_drink()
    random = np.random.default_rng(0)
    noise = [" ".join(f"w{i}" for i in random.integers(400, size=1)) for _ in texts]
    mixed = [f"{text} {own}" for text, own in zip(texts, noise, strict=True)]
    # Of the words only those that say nothing are read, and no characters; the encoder reads all.
    reading = {"analyzer": "word", "token_pattern": "w[0-9]+"}
    model = RankAE(**QUIET, encoder=str(folder), encoder_weight=1.0, **reading).fit(mixed, labels)
    assert model.text_.block is not None
    model.save(tmp_path / "m")
    again = RankAE.load(tmp_path / "m")
    np.testing.assert_allclose(again.predict_top(mixed[:9], 2)[1], model.predict_top(mixed[:9], 2)[1], atol=1e-5)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "another"))
    with pytest.raises(DataError, match="reads texts with the encoder tiny"):
        RankAE.load(tmp_path / "m").predict(mixed[:2])
    monkeypatch.setenv("RANKAE_ENCODERS", str(folder))
    assert RankAE.load(tmp_path / "m").predict(mixed[:2]) == model.predict(mixed[:2])


def test_an_encoder_that_does_not_help_is_left_out_and_none_asks_for_none(encoders):
    texts, labels = fruit_and_drink()
    model = RankAE(**QUIET, encoder=str(encoders.static())).fit(texts, labels)
    assert model.text_.block is None
    assert "none: " in describe(model.choices_["encoder"])
    assert RankAE(**QUIET, encoder="none").fit(texts, labels).text_.block is None
    with pytest.raises(RankaeError, match="there is no encoder"):
        RankAE(**QUIET, encoder="no-such").fit(texts, labels)
