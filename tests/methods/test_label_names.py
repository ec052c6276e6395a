"""Names of labels in the whole model: labels that no row carries are found, and ids change nothing."""

from __future__ import annotations

import json

import numpy as np
import pytest

from rankae import RankAE
from rankae.errors import DataError

TOPICS = [f"{a}{b}" for a in ("bal", "cor", "dim", "fen", "gos", "har") for b in ("ak", "el", "in", "os", "um")]
QUIET = {"network": 0, "tuning": False, "word_vectors": "none", "ngrams": (1, 1)}


def rows_of_topics(n: int = 400, seed: int = 0) -> tuple[list[str], list[list[str]]]:
    """A text names its topic among words that say nothing."""
    random = np.random.default_rng(seed)
    topics = random.integers(len(TOPICS), size=n)
    words = random.integers(50, size=(n, 5))
    texts = [" ".join([TOPICS[t], *(f"word{w}" for w in own)]) for t, own in zip(topics, words, strict=True)]
    return texts, [[f"about {TOPICS[t]}"] for t in topics]


def test_labels_of_no_row_are_found_by_their_names(tmp_path):
    texts, labels = rows_of_topics()
    unseen = {f"about {topic}" for topic in TOPICS[::3]}
    seen = [i for i, own in enumerate(labels) if own[0] not in unseen]
    # A text of any topic has been read; those of unseen ones carry no label.
    learnt = [own if i in set(seen) else [] for i, own in enumerate(labels)]
    listed = tmp_path / "labels.jsonl"
    listed.write_text("\n".join(json.dumps({"label": f"about {topic}", "name": topic}) for topic in TOPICS))
    model = RankAE(**QUIET, labels=str(listed)).fit(texts[:300], learnt[:300])
    assert set(model.classes_) == {f"about {topic}" for topic in TOPICS}
    names, _ = model.predict_top(texts[300:], 5)
    of_unseen = [i for i in range(300, 400) if labels[i][0] in unseen]
    found = np.mean([labels[i][0] in names[i - 300] for i in of_unseen])
    assert found > 0.9
    of_seen = [i for i in range(300, 400) if labels[i][0] not in unseen]
    assert np.mean([labels[i][0] == names[i - 300][0] for i in of_seen]) > 0.9
    model.save(tmp_path / "m")
    again = RankAE.load(tmp_path / "m")
    np.testing.assert_array_equal(again.predict_top(texts[300:], 5)[0], names)


def test_a_column_that_no_row_carries_is_not_predicted_by_its_name():
    """As in a data set whose test rows carry labels that its training rows do not."""
    texts, labels = rows_of_topics()
    unseen = f"about {TOPICS[0]}"
    learnt = [[] if own == [unseen] else own for own in labels]
    columns = sorted({own[0] for own in labels})
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    indicator = pandas.DataFrame([[int(name in own) for name in columns] for own in learnt], columns=columns)
    wide = RankAE(**QUIET).fit(texts, indicator)
    assert unseen not in wide.predict_top(texts, 1)[0][:, 0]


def test_ids_change_nothing():
    texts, labels = rows_of_topics()
    ids = {name: f"c{i}" for i, name in enumerate(sorted({own[0] for own in labels}))}
    by_id = [[ids[own[0]]] for own in labels]
    with_names, without = (RankAE(**QUIET, label_names=use).fit(texts, by_id) for use in (None, False))
    assert "label_names" not in with_names.choices_
    np.testing.assert_array_equal(with_names.predict_top(texts, 5)[1], without.predict_top(texts, 5)[1])


def test_a_file_of_labels_needs_labels_by_name(tmp_path):
    (tmp_path / "l.jsonl").write_text('{"label": "a"}\n')
    with pytest.raises(DataError, match="only numbers"):
        RankAE(**QUIET, labels=str(tmp_path / "l.jsonl")).fit(["a", "b"], np.eye(2))


def test_new_labels_of_an_update_have_names_too():
    texts, labels = rows_of_topics()
    new = [f"about {topic}" for topic in TOPICS[:3]]
    old_rows = [i for i in range(300) if labels[i][0] not in new]
    listed = [labels[i] for i in old_rows]
    old = [texts[i] for i in old_rows]
    old[:4] = [f"{text} {' '.join(TOPICS[:3])}" for text in old[:4]]  # their words are known
    model = RankAE(**QUIET, label_names=True).fit(old, listed)
    stack_names = model.model_.names
    fresh = [i for i in range(300) if labels[i][0] in new]
    model.partial_fit([texts[i] for i in fresh], [labels[i] for i in fresh])
    names, _ = model.predict_top(texts[300:], 3)
    assert set(model.classes_[-3:]) == set(new)
    if stack_names is not None:  # held-out rows may do without
        assert model.model_.names.shape[1] == len(model.classes_)
        assert model.model_.names.names[-3:].nnz >= 3
    of_new = [i for i in range(300, 400) if labels[i][0] in new]
    assert np.mean([labels[i][0] in names[i - 300] for i in of_new]) > 0.8


def test_chinese_is_told_apart():
    random = np.random.default_rng(0)
    marks = [chr(c) for c in range(0x4E00, 0x4E00 + 300)]
    topics = {"水果": "苹果香蕉", "饮料": "啤酒红茶", "车辆": "汽车火车"}

    def clause(topic: str) -> str:
        filler = "".join(random.choice(marks, 12))
        return filler[:6] + topics[topic] + filler[6:] + "。"

    labels = [random.choice(list(topics)) for _ in range(300)]
    texts = [clause(label) for label in labels]
    model = RankAE("fast").fit(texts[:200], [[label] for label in labels[:200]])
    assert model.score(texts[200:], [[label] for label in labels[200:]]) > 0.95
