"""Runs of characters are read where words are inflected and compounded, and not where they gain nothing."""

from __future__ import annotations

import numpy as np

from rankae import RankAE

QUIET = {"encoder": "none", "network": 0, "rankers": False, "tuning": False, "word_vectors": "none"}
STEMS = ["talo", "kirja", "metsä", "koulu", "vesi", "katu", "leipä", "lintu"]
ENDINGS = ["ssa", "sta", "lla", "lta", "lle", "ksi", "tta", "ineen", "jen", "issa", "ista", "ille"]


def inflected(n: int, seed: int) -> tuple[list[str], list[list[str]]]:
    """Each text tells its label by a compound that hardly any other text has."""
    random = np.random.default_rng(seed)
    made = ["".join(random.choice(list("aeioukstnrlmpv"), 6)) for _ in range(400)]
    texts, labels = [], []
    for _ in range(n):
        kind = int(random.integers(len(STEMS)))
        compounds = [random.choice(made) + STEMS[kind] * 2 + random.choice(ENDINGS) for _ in range(3)]
        texts.append(" ".join([*compounds, random.choice(made)]))
        labels.append([STEMS[kind]])
    return texts, labels


def test_compounds_are_read_by_their_characters():
    texts, labels = inflected(400, 0)
    model = RankAE(**QUIET).fit(texts[:300], labels[:300])
    assert model.text_.analyzer == "word+char"
    by_words = RankAE(**QUIET, analyzer="word", pieces=False).fit(texts[:300], labels[:300])
    assert model.score(texts[300:], labels[300:]) > by_words.score(texts[300:], labels[300:]) + 0.2


def test_words_that_repeat_are_read_as_words():
    random = np.random.default_rng(0)
    kinds = random.integers(4, size=200)
    texts = [f"kind{kind} " + " ".join(f"word{i}" for i in random.integers(30, size=6)) for kind in kinds]
    model = RankAE(**QUIET).fit(texts, [[f"kind {kind}"] for kind in kinds])
    assert model.text_.analyzer == "word"
    assert "analyzer" not in model.choices_ or model.choices_["analyzer"]["value"] == "word"
