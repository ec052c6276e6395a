"""Decisions: nothing is overwritten, the later one wins, disagreement is told, and a killed writer loses nothing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from rankae.cli.entry import run
from rankae.data import load_dataset
from rankae.errors import RankaeError
from rankae.serve.statistics import statistics
from rankae.serve.store import FILE, Decision, Store


@pytest.fixture
def store(tmp_path):
    found = Store(tmp_path / "desk")
    yield found
    found.close()


def test_the_later_decision_wins_and_the_earlier_is_kept(store):
    store.add([Decision("a", ["x"], by="Ada", at="2026-01-01"), Decision("a", ["y"], by="Ada", at="2026-01-02")])
    assert [one.labels for one in store.latest()] == [["y"]]
    assert [one.labels for one in store.of_document("a")] == [["x"], ["y"]]


def test_what_was_undone_is_no_decision(store):
    store.add([Decision("a", ["x"], at="2026-01-01"), Decision("a", at="2026-01-02")])
    assert list(store.latest()) == []


def test_half_a_verdict_is_kept_but_not_learnt_from(store):
    store.add([Decision("a", ["x"], done=False)])
    assert list(store.latest()) == []
    assert [one.labels for one in store.latest(done=False)] == [["x"]]


def test_people_who_disagree_are_both_kept_and_told(store):
    store.add(
        [
            Decision("a", ["x"], ["y"], by="Ada", at="2026-01-02"),
            Decision("a", ["y"], ["x"], by="Bo", at="2026-01-01"),
            Decision("b", ["x"], by="Ada", at="2026-01-01"),
            Decision("b", ["x"], by="Bo", at="2026-01-02"),
        ]
    )
    assert [[one.by for one in verdicts] for verdicts in store.conflicts()] == [["Bo", "Ada"]]
    assert {one.text: one.labels for one in store.latest()} == {"a": ["x"], "b": ["x"]}


def test_an_upload_gives_the_next_open_text(store):
    number = store.upload("f.txt", "Ada", "texts", iter([("a", {}), ("b", {"id": 7}), ("c", {})]))
    assert store.next_open(number, -1) == 0
    store.add([Decision("b", ["x"])])
    assert store.next_open(number, 0) == 2
    assert store.next_open(number, 2) == 0
    assert store.uploads()[0]["done"] == 1
    assert store.row(number, 1)["about"] == {"id": 7}
    store.add([Decision("a", ["x"]), Decision("c", [], ["x"])])
    assert store.next_open(number, -1) is None


def test_statistics_count_what_was_right(store):
    shown = [{"label": "x", "probability": 0.9}, {"label": "y", "probability": 0.2}]
    store.add(
        [Decision("a", ["x"], ["y"], ["z"], by="Ada", shown=shown), Decision("b", ["x"], [], by="Bo", shown=shown)]
    )
    found = statistics(store)
    assert (found["texts"], found["accepted"], found["rejected"], found["added"]) == (2, 2, 1, 1)
    assert found["precision"] == pytest.approx(66.67)
    assert {"said": 0.9, "accepted": 1.0, "tags": 2} in found["calibration"]


def test_the_export_is_a_data_set(store, tmp_path, capsys):
    store.add([Decision("=an apple", ["fruit", "with;semicolon"], by="Ada"), Decision("wine", ["drink"])])
    store.close()
    for name in ("out.jsonl", "out.csv"):
        assert run(["desk", "export", str(tmp_path / "desk"), "-o", str(tmp_path / name)]) == 0
    for name, text in (("out.jsonl", "=an apple"), ("out.csv", "'=an apple")):  # no spreadsheet computes it
        data = load_dataset(tmp_path / name, "train")
        assert sorted(data.texts) == sorted([text, "wine"])
        assert set(data.label_names) == {"fruit", "with;semicolon", "drink"}


@pytest.mark.parametrize("label", ["@home", "-5", "+1", "=x"])
def test_labels_that_look_like_formulas_come_back_as_they_were(store, tmp_path, label):
    store.add([Decision("an apple", [label, "fruit"])])
    store.close()
    assert run(["desk", "export", str(tmp_path / "desk"), "-o", str(tmp_path / "out.csv")]) == 0
    assert set(load_dataset(tmp_path / "out.csv", "train").label_names) == {label, "fruit"}


def test_merging_twice_adds_once(tmp_path, capsys):
    for name, label, at in (("one", "x", "2026-01-01"), ("two", "y", "2026-01-02")):
        desk = Store(tmp_path / name)
        desk.add([Decision("a", [label], by=name, at=at)])
        desk.close()
    for added in (1, 0):
        assert run(["desk", "merge", str(tmp_path / "one"), str(tmp_path / "two"), "--json"]) == 0
        assert json.loads(capsys.readouterr().out) == {"added": added, "conflicts": 1}
    assert run(["desk", "stats", str(tmp_path / "one")]) == 0
    assert "1 texts, 2 decisions, 1 conflicts" in capsys.readouterr().out


def test_a_folder_that_is_no_desk_is_one_sentence(tmp_path, capsys):
    assert run(["desk", "stats", str(tmp_path)]) == 2
    assert FILE in capsys.readouterr().err


def test_a_file_that_is_no_database_is_one_sentence(tmp_path):
    (tmp_path / FILE).write_bytes(b"not a database, but long enough to be looked at" * 100)
    with pytest.raises(RankaeError, match="cannot be used"):
        Store(tmp_path)


_WRITER = """
import sys
from pathlib import Path
from rankae.serve.store import Decision, Store
store = Store(Path(sys.argv[1]))
for i in range(100_000):
    number = store.add([Decision(f"text {i}", ["x"])])[0]
    print(number, flush=True)
"""


def test_a_killed_writer_loses_nothing_that_it_acknowledged(tmp_path):
    writer = subprocess.Popen(
        [sys.executable, "-c", _WRITER, str(tmp_path)], stdout=subprocess.PIPE, text=True, env=dict(os.environ)
    )
    acknowledged = [int(writer.stdout.readline()) for _ in range(50)]
    writer.send_signal(signal.SIGKILL)
    acknowledged += [int(line) for line in writer.stdout.read().split("\n")[:-1] if line]
    writer.wait()
    store = Store(Path(tmp_path))
    assert {one.number for one in store.all()} >= set(acknowledged)
    store.close()
