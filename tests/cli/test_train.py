"""`rankae train`: what it writes, what it tells, and what it refuses before it works."""

from __future__ import annotations

import json
import shutil

import pytest

from rankae.cli.set_option import parse_settings
from rankae.errors import RankaeError
from rankae.methods import load
from rankae.model_file import read_model
from rankae.rivals.knn import NearestRows

PAPER = ("--preset", "paper", "--set", "epochs=2", "--set", "code_size=8", "--set", "word_size=8")


def test_a_rival_is_trained_and_its_facts_are_kept(rankae, data, tmp_path):
    place = tmp_path / "deep" / "model"
    ended = rankae(
        "train", data, "--model", place, "--method", "knn", "--set", "neighbours=7", "--validation", "--json"
    )
    assert (ended.code, ended.err) == (0, "")
    told = json.loads(ended.out)
    facts = read_model(place).facts
    assert told == {"model": str(place)} | facts
    assert (facts["rows"], facts["labels"], facts["method"], facts["data"]) == (80, 10, "knn", data.name)
    assert facts["held_out"]["rows"] == 16
    assert load(place).get_params() == {"neighbours": 7}


def test_the_same_data_has_the_same_fingerprint(rankae, data, tmp_path):
    rankae("data", "convert", data, tmp_path / "train.npz")
    told = [
        json.loads(rankae("train", source, "--model", tmp_path / f"m{i}", "--method", "popular", "--json").out)
        for i, source in enumerate((data, tmp_path / "train.npz", data / "test.jsonl"))
    ]
    assert told[0]["fingerprint"] == told[1]["fingerprint"] != told[2]["fingerprint"]


def test_a_model_of_other_data_is_not_replaced_unasked_and_then_kept(rankae, data, tmp_path):
    how = ("--model", tmp_path / "m", "--method", "popular")
    assert rankae("train", data, *how).code == 0
    assert rankae("train", data, *how, "--seed", "1").code == 0  # the same data once more
    before = (tmp_path / "m" / "model.json").read_bytes()
    refused = rankae("train", data / "test.jsonl", *how)
    assert (refused.code, refused.out, refused.err.count("\n")) == (2, "", 1)
    assert f"holds a model of other data ({data.name}, 80 rows)" in refused.err
    assert (tmp_path / "m" / "model.json").read_bytes() == before
    for kept in ("m.before", "m.before-2"):
        other = data / "test.jsonl" if kept == "m.before" else data
        assert rankae("train", other, *how, "--force").code == 0
        assert read_model(tmp_path / kept).facts["rows"] == (80 if kept == "m.before" else 20)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m", "m.before", "m.before-2"]
    assert read_model(tmp_path / "m").facts["rows"] == 80


def test_rank_ae_tells_its_choices_and_its_history(rankae, data, tmp_path):
    ended = rankae("train", data, "--model", tmp_path / "m", *PAPER, "--report", tmp_path / "r.html")
    assert (ended.code, ended.err) == (0, "")
    assert "ngrams: " in ended.out
    history = [json.loads(line) for line in (tmp_path / "m" / "history.jsonl").read_text().splitlines()]
    assert [figures["epoch"] for figures in history] == [1, 2]
    loaded = load(tmp_path / "m")
    assert (loaded.checkpoint, loaded.resume, loaded.epochs) == (None, False, 2)
    assert not (tmp_path / "m.checkpoint").exists()
    assert "<polyline" in (tmp_path / "r.html").read_text()


def test_checked_rows_make_the_choices(rankae, data, tmp_path):
    lines = (data / "test.jsonl").read_text().splitlines() * 2
    unheard_of = json.dumps({"text": "a row", "labels": ["of a label that no training row has"]})
    (tmp_path / "checked.jsonl").write_text("\n".join([*lines, unheard_of]))
    how = "train", data, "--model", tmp_path / "m", "--trusted", tmp_path / "checked.jsonl"
    ended = rankae(*how, "--set", "network=0", "--json")
    assert (ended.code, ended.err) == (0, "")
    told = json.loads(ended.out)
    assert (told["rows"], told["trusted_rows"], told["labels"]) == (80, 41, 10)
    assert "trusted rows" in told["choices"]["ridge"]["reason"]
    refused = rankae(*how, "--method", "knn")
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "knn makes no use of trusted rows" in refused.err
    (tmp_path / "features.txt").write_text("1 3 10\n0 0:1\n")
    refused = rankae(*how[:-1], tmp_path / "features.txt")
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "both be texts, or both be features" in refused.err


def test_ctrl_c_keeps_the_checkpoint_and_resume_ends_as_if_nothing_had_happened(rankae, data, tmp_path, monkeypatch):
    from rankae.paper import joint

    whole = rankae("train", data, "--model", tmp_path / "whole", *PAPER)
    assert whole.code == 0
    write, place = joint.write_checkpoint, tmp_path / "m"

    def interrupted(folder, checkpoint):
        write(folder, checkpoint)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(joint, "write_checkpoint", interrupted)
        stopped = rankae("train", data, "--model", place, *PAPER)
    assert stopped.code == 130
    assert f"go on with: rankae train {data} --model {place}" in stopped.err
    assert stopped.err.rstrip().endswith("--resume")
    assert not place.exists()
    forgotten = rankae("train", data, "--model", place, *PAPER)
    assert forgotten.code == 2
    assert "--resume" in forgotten.err
    resumed = rankae("train", data, "--model", place, *PAPER, "--resume")
    assert (resumed.code, resumed.err) == (0, "")
    assert not (tmp_path / "m.checkpoint").exists()
    assert json.loads(rankae("evaluate", place, data, "--json").out)["nDCG@5"] == pytest.approx(
        json.loads(rankae("evaluate", tmp_path / "whole", data, "--json").out)["nDCG@5"]
    )


def test_ctrl_c_before_the_first_checkpoint(rankae, data, tmp_path, monkeypatch):
    def interrupted(self, rows, labels):
        raise KeyboardInterrupt

    monkeypatch.setattr(NearestRows, "_fit", interrupted)
    stopped = rankae("train", data, "--model", tmp_path / "m", "--method", "knn")
    assert (stopped.code, stopped.err) == (130, "stopped before the first checkpoint; nothing was written\n")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--method", "none"], "there is no method 'none'"),
        (["--method", "knn", "--set", "neighbours"], "--set takes key=value"),
        (["--method", "knn", "--set", "neighbours=few"], "neighbours cannot be 'few'; it takes a whole number"),
        (["--method", "knn", "--set", "nothing=1"], "knn has no parameter 'nothing'"),
        (["--method", "knn", "--set", "neighbours=0"], "neighbours must be"),
        (["--method", "knn", "--preset", "paper"], "knn has no parameter 'preset'"),
        (["--method", "knn", "--resume"], "keeps no checkpoints"),
        (["--preset", "none"], "there is no preset 'none'"),
        (["--words", "bilstm"], 'needs the preset "paper"'),
        (["--set", "epochs=1.5"], "epochs cannot be 1.5"),
        (["--format", "none"], "there is no format 'none'"),
    ],
)
def test_a_mistake_is_one_sentence_and_nothing_is_written(rankae, data, tmp_path, options, told):
    ended = rankae("train", data, "--model", tmp_path / "m", *options)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.count("\n") == 1
    assert told in ended.err
    assert not list(tmp_path.iterdir())


def test_somebodys_folder_is_not_written_over(rankae, data, tmp_path):
    shutil.copytree(data, tmp_path / "mine")
    ended = rankae("train", data, "--model", tmp_path / "mine", "--method", "knn")
    assert ended.code == 2
    assert "is not a model folder" in ended.err
    ended = rankae("train", data, "--model", tmp_path / "mine" / "train.jsonl" / "m", "--method", "knn")
    assert ended.code == 2
    assert "is not a folder" in ended.err


def test_settings_are_python_values_or_words():
    assert parse_settings(["a=1", "b=.5", "c=True", "d=none", "e=x=y", "f=1e-3"]) == {
        "a": 1,
        "b": 0.5,
        "c": True,
        "d": None,
        "e": "x=y",
        "f": 0.001,
    }
    with pytest.raises(RankaeError, match="key=value"):
        parse_settings(["1a=2"])


def test_a_second_training_into_the_same_folder_is_told(rankae, data, tmp_path):
    from rankae.model_file.lock import only_one

    with only_one(tmp_path / "model.checkpoint", "training"):
        ran = rankae("train", data, "--model", tmp_path / "model", "--method", "popular")
    assert ran.code == 2
    assert "another training is writing to" in ran.err
    assert rankae("train", data, "--model", tmp_path / "model", "--method", "popular").code == 0
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("model")] == ["model"]
