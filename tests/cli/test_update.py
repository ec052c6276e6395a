"""rankae update, and train --also: what people decided becomes a model."""

from __future__ import annotations

import json

import numpy as np
import pytest

from rankae.cli.entry import run
from rankae.methods import load
from rankae.serve.store import Decision, Store

WORDS = {"fruit": "apple pear plum cherry", "drink": "wine beer juice bottle", "sea": "ship harbour wave anchor"}


def lines(labels: list[str], count: int, seed: int, wrong: bool = False) -> str:
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        label = str(rng.choice(labels))
        noise = rng.choice(" ".join(WORDS.values()).split(), 1).tolist()
        text = " ".join([*rng.choice(WORDS[label].split(), 3).tolist(), *noise])
        said = str(rng.choice([one for one in labels if one != label])) if wrong else label
        found.append(json.dumps({"text": text, "labels": [said]}))
    return "\n".join(found) + "\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("update")
    (place / "first.jsonl").write_text(lines(["fruit", "drink"], 200, 0))
    (place / "new.jsonl").write_text(lines(["fruit", "drink", "sea"], 120, 1))
    (place / "wrong.jsonl").write_text(lines(["fruit", "drink"], 200, 2, wrong=True))
    assert run(["train", str(place / "first.jsonl"), "--model", str(place / "old"), "--preset", "fast"]) == 0
    return place


def test_new_rows_and_labels(folder, capsys):
    assert (
        run(["update", str(folder / "old"), str(folder / "new.jsonl"), "--out", str(folder / "fresh"), "--json"]) == 0
    )
    found = json.loads(capsys.readouterr().out)
    assert (found["rows"], found["new_labels"], found["checked_rows"]) == (120, 1, 24)
    assert found["after"]["P@1"] > found["before"]["P@1"]
    assert found["new_label_recall@5"] == 100
    model = load(folder / "fresh")
    assert model.predict_top(["a ship in the harbour, a wave"], 1)[0].tolist() == [["sea"]]
    assert model.training_rows_ == 320
    assert len(load(folder / "old").classes_) == 2  # the old model is as it was


def test_a_worse_model_is_not_written(folder, capsys):
    where = ["update", str(folder / "old"), str(folder / "new.jsonl"), "--out", str(folder / "worse")]
    (folder / "both.jsonl").write_text(lines(["fruit", "drink"], 60, 5) + lines(["fruit", "drink"], 240, 6, wrong=True))
    from rankae.cli import update as command

    assert command._worse({"before": {"P@1": 90.0, "nDCG@5": 90.0}, "after": {"P@1": 89.0, "nDCG@5": 91.0}})
    assert not command._worse({"before": {"P@1": 90.0, "nDCG@5": 90.0}, "after": {"P@1": 89.8, "nDCG@5": 91.0}})
    found = command._learn
    try:
        command._learn = lambda *_: {
            "checked_rows": 24, "before": {"P@1": 90.0, "nDCG@5": 90.0, "P@3": 1.0, "P@5": 1.0, "PSP@5": 1.0},
            "after": {"P@1": 60.0, "nDCG@5": 70.0, "P@3": 1.0, "P@5": 1.0, "PSP@5": 1.0}, "new_label_recall@5": None,
        }  # fmt: skip
        assert run(where) == 2
        assert "P@1 60.00 after 90.00" in capsys.readouterr().err
        assert not (folder / "worse").exists()
        assert run([*where, "--force"]) == 0
        assert (folder / "worse").exists()
    finally:
        command._learn = found


def test_a_desk_is_learnt_from(folder, tmp_path, capsys):
    desk = Store(tmp_path / "desk")
    rows = [json.loads(line) for line in lines(["sea"], 60, 3).splitlines()]
    desk.add([Decision(row["text"], [], [], row["labels"], by="Ada") for row in rows])
    desk.add([Decision("half done", ["fruit"], done=False)])
    desk.close()
    assert run(["update", str(folder / "old"), str(tmp_path / "desk"), "--out", str(tmp_path / "m")]) == 0
    assert "sea" in load(tmp_path / "m").classes_
    assert "rows and 1 new labels" in capsys.readouterr().out


def test_train_also_takes_decisions_and_the_later_word_wins(folder, tmp_path, capsys):
    first = json.loads((folder / "first.jsonl").read_text().splitlines()[0])
    (tmp_path / "decisions.jsonl").write_text(json.dumps({"text": first["text"], "labels": ["checked"]}) + "\n")
    where = ["--also", str(tmp_path / "decisions.jsonl"), "--model", str(tmp_path / "m"), "--preset", "fast"]
    assert run(["train", str(folder / "first.jsonl"), *where]) == 0
    assert "gave way" in capsys.readouterr().err
    model = load(tmp_path / "m")
    assert set(model.classes_) == {"fruit", "drink", "checked"}
    assert model.training_rows_ <= 200


def test_mistakes_are_one_sentence(folder, tmp_path, capsys):
    Store(tmp_path / "empty").close()
    assert run(["update", str(folder / "old"), str(tmp_path / "empty"), "--out", str(tmp_path / "m")]) == 2
    assert "nobody has finished" in capsys.readouterr().err
    assert run(["update", str(folder / "old"), str(folder / "new.jsonl"), "--out", str(folder)]) == 2
    assert "not a model folder" in capsys.readouterr().err
