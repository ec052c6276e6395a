"""What held-out rows choose for the paper's network, and what it starts from."""

import numpy as np
import pytest
import scipy.sparse as sp

import rankae.paper.choices as choices
from rankae import RankAE
from rankae.base.choices import describe
from rankae.errors import RankaeError
from rankae.methods.presets import OPEN as PRESET_OPEN
from rankae.paper.choices import train_as_chosen
from rankae.paper.joint import train_joint
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


OPEN = {"learning_rate": (1e-2, 3e-3), "balance": (1.0, 0.1), "epochs": (4, 8, 16)}


def watched(monkeypatch, merit) -> list[tuple[int, JointSettings]]:
    """(rows, settings) of each training to come; its held-out figure is what `merit` says of its settings."""
    calls: list[tuple[int, JointSettings]] = []

    def spy(rows, labels, settings, **options):
        calls.append((labels.shape[0], settings))
        return train_joint(rows, labels, JointSettings(code_size=4, word_size=4, epochs=1))

    monkeypatch.setattr(choices, "train_joint", spy)
    monkeypatch.setattr(
        choices.Trials, "_precision", lambda self, network: np.full(self.check[1].shape[0], merit(calls[-1][1]))
    )
    return calls


def test_each_setting_takes_its_best_value_and_the_last_training_has_all_rows_and_all_choices(monkeypatch):
    def merit(s: JointSettings) -> float:
        return 50 + 5 * (s.learning_rate == 3e-3) + 5 * (s.balance == 0.1) - abs(s.epochs - 8)

    calls = watched(monkeypatch, merit)
    _, made = train_as_chosen(*documents(400, 0), SMALL, OPEN)
    rows, last = calls[-1]
    assert rows == 400
    assert {count for count, _ in calls[:-1]} == {320}
    assert (last.learning_rate, last.balance, last.epochs) == (3e-3, 0.1, 8)
    assert {name: one["value"] for name, one in made.items()} == {"learning_rate": 3e-3, "balance": 0.1, "epochs": 8}
    assert made["balance"]["evidence"] == {"1.0": 55.0, "0.1": 60.0}


def test_the_point_to_start_from_is_chosen_first_and_every_other_choice_is_made_from_there(monkeypatch):
    def merit(s: JointSettings) -> float:
        together = s.direct == 1.0 and s.encoder_rate == 0.01
        return 50 + 5 * together - 5 * (not together and s.balance == 0.1) + (together and s.balance == 0.1)

    calls = watched(monkeypatch, merit)
    held = {"direct": 1.0, "encoder_rate": 0.01}
    _, made = train_as_chosen(*documents(400, 0), SMALL, {"balance": (1.0, 0.1)}, starts={"codes held": held})
    assert made["starting_point"]["value"] == "codes held"
    assert made["starting_point"]["evidence"] == {"preset": 50.0, "codes held": 55.0}
    last = calls[-1][1]
    assert (last.direct, last.encoder_rate, last.balance) == (1.0, 0.01, 0.1)


def test_settings_after_the_epochs_are_chosen_at_full_length(monkeypatch):
    calls = watched(monkeypatch, lambda s: 50.0 - abs(s.epochs - 16) + 5 * (s.epochs == 16) * s.word_dropout)
    rows, labels = documents(4000, 0)
    values = {"balance": (1.0, 0.1), "epochs": (4, 8, 16), "word_dropout": (0.0, 0.3)}
    _, made = train_as_chosen(rows, labels, SMALL, values)
    assert made["word_dropout"]["value"] == 0.3
    assert [(count, s.epochs) for count, s in calls if s.word_dropout] == [(3200, 16), (4000, 16)]


@pytest.mark.parametrize(("best", "tried"), [(16, {"8", "16"}), (8, {"4", "8", "16"}), (4, {"4", "8", "16"})])
def test_longer_schedules_are_tried_first_and_shorter_ones_if_they_do_not_gain(monkeypatch, best, tried):
    calls = watched(monkeypatch, lambda s: 50.0 - abs(s.epochs - best))
    _, made = train_as_chosen(*documents(400, 0), SMALL, OPEN)
    assert set(made["epochs"]["evidence"]) == tried
    assert calls[-1][1].epochs == best


def test_a_value_that_is_no_better_is_left_where_it_was(monkeypatch):
    watched(monkeypatch, lambda s: 50.0)
    _, made = train_as_chosen(*documents(400, 0), SMALL, OPEN)
    assert made["learning_rate"]["value"] == SMALL.learning_rate


def test_an_advantage_within_its_standard_error_is_chance(monkeypatch):
    noise = np.random.default_rng(0).normal(0, 10, 80)

    def merit(s: JointSettings) -> np.ndarray:
        return 50 + (0.5 * noise.std() / 80**0.5 + noise - noise.mean() if s.balance == 0.1 else 0 * noise)

    watched(monkeypatch, merit)
    _, made = train_as_chosen(*documents(400, 0), SMALL, {"balance": (1.0, 0.1)})
    assert made["balance"]["evidence"]["0.1"] > made["balance"]["evidence"]["1.0"]
    assert made["balance"]["value"] == 1.0


def test_the_short_trials_together_read_a_limited_number_of_rows(monkeypatch):
    calls = watched(monkeypatch, lambda s: float(s.seed))
    values = {"balance": (1.0, 2.0, 3.0, 4.0, 5.0), "margin": (1.0, 2.0, 3.0, 4.0)}
    train_as_chosen(*documents(8000, 0), SMALL, values)
    read = [rows * s.epochs for rows, s in calls[:-1]]
    assert len(read) == 8
    assert sum(read) <= 12 * 16_000


def test_a_trial_that_diverges_is_not_chosen(monkeypatch):
    def diverges(rows, labels, settings, **options):
        if settings.learning_rate == 3e-3:
            raise RankaeError("the loss became nan in epoch 1")
        return train_joint(rows, labels, settings, **options)

    monkeypatch.setattr(choices, "train_joint", diverges)
    _, made = train_as_chosen(*documents(300, 0), SMALL, {"learning_rate": (1e-2, 3e-3)})
    assert made["learning_rate"]["value"] == 1e-2
    assert made["learning_rate"]["evidence"]["0.003"] == 0.0


def test_given_validation_rows_choose_and_keep_the_best_epoch(monkeypatch):
    calls = watched(monkeypatch, lambda s: float(s.balance))
    train_as_chosen(*documents(400, 0), SMALL, {"balance": (1.0, 2.0)}, validation=documents(100, 1))
    assert [rows for rows, _ in calls] == [400, 400, 400]
    assert calls[-1][1].balance == 2.0


def test_near_duplicates_of_training_rows_do_not_count():
    rows, labels = documents(300, 0)
    fresh, their_labels = documents(100, 1)
    check = sp.vstack([rows, fresh], format="csr"), sp.vstack([labels, their_labels], format="csr")
    _, made = train_as_chosen(rows, labels, SMALL, {"balance": (1.0, 0.1)}, validation=check)
    assert "by 100 rows " in made["balance"]["reason"]


def test_few_rows_choose_nothing_and_say_so():
    model = RankAE("paper").fit(*documents(100, 0))
    assert describe(model.choices_["epochs"]) == "16 (too few rows to try others)"
    assert len(model.history_) == 16


@pytest.mark.parametrize(
    ("parameters", "left"),
    [({}, set(PRESET_OPEN["paper"])), ({"epochs": 2}, set())],
)
def test_what_the_user_sets_is_not_chosen(monkeypatch, parameters, left):
    watched(monkeypatch, lambda s: 1.0)
    model = RankAE("paper", **parameters).fit(*documents(300, 0))
    searched = {name for name, one in model.choices_.items() if one["evidence"]}
    assert searched - {"starting_point"} == left
    chosen = RankAE("paper", balance=7.0, word_decay=0.5, **parameters).fit(*documents(300, 0)).choices_
    searched = {name for name, one in chosen.items() if one["evidence"]}
    assert searched - {"starting_point"} == left - {"balance", "word_decay"}


def test_an_interrupted_choice_goes_on_where_it_was(tmp_path, monkeypatch):
    rows, labels = documents(300, 0)
    own = {"balance": 0.3, "word_decay": 0.3, "direct": 0.0, "code_size": 8, "word_size": 8, "random_state": 0}
    trainings: list[int] = []
    interrupt_at = 0

    def counted(*args, **options):
        trainings.append(1)
        if len(trainings) == interrupt_at:
            raise KeyboardInterrupt
        return train_joint(*args, **options)

    monkeypatch.setattr(choices, "train_joint", counted)
    whole = RankAE("paper", **own).fit(rows, labels)
    needed = len(trainings)
    trainings.clear()
    model, interrupt_at = RankAE("paper", checkpoint=tmp_path, **own), 3
    with pytest.raises(KeyboardInterrupt):
        model.fit(rows, labels)
    trainings.clear()
    interrupt_at = 0
    resumed = model.set_params(resume=True).fit(rows, labels)
    assert len(trainings) == needed - 2
    assert resumed.choices_ == whole.choices_
    np.testing.assert_array_equal(resumed.decision_function(rows), whole.decision_function(rows))


def test_a_damaged_record_of_trials_is_a_plain_sentence(tmp_path):
    (tmp_path / "choices.json").write_text("[")
    with pytest.raises(RankaeError, match="delete it"):
        RankAE("paper", checkpoint=tmp_path, resume=True).fit(*documents(300, 0))


def test_words_start_from_the_vectors_on_this_machine_where_they_have_the_size(tmp_path, monkeypatch):
    (tmp_path / "glove").mkdir()
    (tmp_path / "glove" / "small.txt").write_text("red 1 2\nwine 3 -1\napple 0 2\n")
    monkeypatch.setenv("RANKAE_DATA", str(tmp_path))
    texts, tags = ["red apple", "red wine"] * 20, [["fruit"], ["drink"]] * 20
    chosen = {
        size: RankAE("paper", epochs=1, word_size=size).fit(texts, tags).choices_.get("word_vectors") for size in (2, 3)
    }
    assert describe(chosen[2]) == "small.txt (it knows 3 of 3 features; word_vectors='none' does without)"
    assert describe(chosen[3]) == "none (the vectors of small.txt have 2 numbers, not 3)"
    without = RankAE("paper", epochs=1, word_size=2, word_vectors="none").fit(texts, tags)
    assert "word_vectors" not in without.choices_
