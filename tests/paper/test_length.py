"""How long the paper's network is trained, and what it starts from."""

import numpy as np
import pytest
import scipy.sparse as sp

import rankae.paper.length as length
from rankae import RankAE
from rankae.base.choices import told
from rankae.paper.joint import train_joint
from rankae.paper.length import LENGTHS, train_as_long_as_it_helps
from rankae.paper.settings import JointSettings

SMALL = JointSettings(code_size=16, word_size=16, batch=32)


def documents(rows: int, seed: int, words: int = 400) -> tuple[sp.csr_matrix, sp.csr_matrix]:
    """Two labels, each with ten words that tell it, and forty words a row that tell nothing."""
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 2, rows)
    table = np.zeros((rows, words), dtype=np.float32)
    for i in range(rows):
        table[i, 10 * label[i] + rng.integers(0, 10, 2)] = 1
        table[i, rng.integers(20, words, 40)] = 1
    return (
        sp.csr_matrix(table / np.linalg.norm(table, axis=1, keepdims=True)),
        sp.csr_matrix(np.eye(2, dtype=np.float32)[label]),
    )


def trained_lengths(monkeypatch, merits: dict[int, float]) -> list[tuple[int, int]]:
    """(rows, epochs) of each training to come; its held-out precision is `merits` of its epochs."""
    calls: list[tuple[int, int]] = []

    def spy(rows, labels, settings, *, validation=None, **options):
        calls.append((labels.shape[0], settings.epochs))
        network = train_joint(rows, labels, JointSettings(code_size=4, word_size=4, epochs=1))
        network.history[-1] |= {f"P@{k}": merits[settings.epochs] for k in (1, 3, 5)}
        return network

    monkeypatch.setattr(length, "train_joint", spy)
    return calls


@pytest.mark.parametrize(
    ("merits", "tried", "best"),
    [
        ({4: 50.0, 8: 60.0, 16: 70.0}, [4, 8, 16], 16),
        ({4: 50.0, 8: 60.0, 16: 55.0}, [4, 8, 16], 8),
        ({4: 50.0, 8: 40.0, 16: 70.0}, [4, 8], 4),
    ],
)
def test_longer_schedules_are_tried_until_one_is_worse_and_the_best_sees_all_rows(monkeypatch, merits, tried, best):
    calls = trained_lengths(monkeypatch, merits)
    _, chosen = train_as_long_as_it_helps(*documents(400, 0), SMALL)
    assert calls == [(360, epochs) for epochs in tried] + [(400, best)]
    assert chosen["value"] == best
    assert list(chosen["evidence"]) == [str(epochs) for epochs in tried]


def test_given_validation_rows_are_not_learnt_from_and_their_best_network_is_returned(monkeypatch):
    calls = trained_lengths(monkeypatch, {4: 50.0, 8: 60.0, 16: 55.0})
    network, _ = train_as_long_as_it_helps(*documents(400, 0), SMALL, validation=documents(100, 1))
    assert calls == [(400, 4), (400, 8), (400, 16)]
    assert network.history[-1]["P@1"] == 60.0


def test_copies_of_training_rows_do_not_count():
    rows, labels = documents(300, 0)
    fresh, their_labels = documents(100, 1)
    validation = sp.vstack([rows, fresh], format="csr"), sp.vstack([labels, their_labels], format="csr")
    _, chosen = train_as_long_as_it_helps(rows, labels, SMALL, validation=validation)
    assert " on 100 rows " in chosen["reason"]


def test_few_rows_choose_nothing_and_say_so():
    model = RankAE("paper").fit(*documents(100, 0))
    assert told(model.choices_["epochs"]) == "16 (too few rows to try others)"
    assert len(model.history_) == 16


def test_an_interrupted_choice_goes_on_where_it_was(tmp_path, monkeypatch):
    rows, labels = documents(300, 0)
    model = RankAE("paper", random_state=0, checkpoint=tmp_path)
    whole = RankAE("paper", random_state=0).fit(rows, labels)
    calls = []

    def killed(*args, **options):
        calls.append(options["checkpoint_dir"])
        if len(calls) == 2:
            raise KeyboardInterrupt
        return train_joint(*args, **options)

    monkeypatch.setattr(length, "train_joint", killed)
    with pytest.raises(KeyboardInterrupt):
        model.fit(rows, labels)
    monkeypatch.undo()
    assert (tmp_path / f"epochs-{LENGTHS[0]}").is_dir()
    resumed = model.set_params(resume=True).fit(rows, labels)
    assert resumed.choices_ == whole.choices_
    np.testing.assert_array_equal(resumed.decision_function(rows), whole.decision_function(rows))


def test_words_start_from_the_vectors_on_this_machine_where_they_have_the_size(tmp_path, monkeypatch):
    (tmp_path / "glove").mkdir()
    (tmp_path / "glove" / "small.txt").write_text("red 1 2\nwine 3 -1\napple 0 2\n")
    monkeypatch.setenv("RANKAE_DATA", str(tmp_path))
    texts, tags = ["red apple", "red wine"] * 20, [["fruit"], ["drink"]] * 20
    chosen = {
        size: RankAE("paper", epochs=1, word_size=size).fit(texts, tags).choices_.get("word_vectors") for size in (2, 3)
    }
    assert told(chosen[2]) == "small.txt (it knows 3 of 3 features; word_vectors='none' does without)"
    assert told(chosen[3]) == "none (the vectors of small.txt have 2 numbers, not 3)"
    without = RankAE("paper", epochs=1, word_size=2, word_vectors="none").fit(texts, tags)
    assert "word_vectors" not in without.choices_
