"""`rankae audit` and `rankae audit apply`."""

from __future__ import annotations

import csv
import json

import pytest

from rankae.data import load_dataset

OPTIONS = ("--method", "knn", "--folds", "3", "--top", "15")


@pytest.fixture(scope="module")
def flags(data, tmp_path_factory):
    """Flags of the training rows, as JSON lines."""
    from rankae.audit import AuditSettings, audit
    from rankae.audit.formats import write_flags

    place = tmp_path_factory.mktemp("audit") / "flags.jsonl"
    write_flags(place, audit(load_dataset(data), settings=AuditSettings(3, 15, "knn", {})), "jsonl")
    return place


def test_flags_page_and_summary(rankae, data, tmp_path):
    ended = rankae("audit", data, "-o", tmp_path / "flags.jsonl", "--html", tmp_path / "page.html", *OPTIONS)
    assert (ended.code, ended.err) == (0, "")
    lines = [json.loads(line) for line in (tmp_path / "flags.jsonl").read_text().splitlines()]
    assert len(lines) == 30
    assert {"row", "id", "label", "kind", "probability", "words", "nearest"} <= set(lines[0])
    assert [line["probability"] for line in lines] == sorted((line["probability"] for line in lines), reverse=True)
    assert set(json.loads((tmp_path / "flags.summary.json").read_text())["noise"]) == {"missing", "wrong"}
    assert "<table" in (tmp_path / "page.html").read_text()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["flags.jsonl", "flags.summary.json", "page.html"]


def decided(flags, kinds=("missing", "wrong")) -> list[dict]:
    lines = [json.loads(line) for line in flags.read_text().splitlines()]
    first = {kind: next(line for line in lines if line["kind"] == kind) for kind in kinds}
    for line in first.values():
        line["decision"] = "accept"
    return [*first.values(), {**next(line for line in lines if "decision" not in line), "decision": "reject"}]


def test_accepted_flags_are_applied(rankae, data, flags, tmp_path):
    chosen = decided(flags)
    (tmp_path / "d.jsonl").write_text("".join(json.dumps(line) + "\n" for line in chosen))
    ended = rankae("audit", "apply", tmp_path / "d.jsonl", data, "-o", tmp_path / "clean", "--json")
    told = json.loads(ended.out)
    assert (told["added"], told["removed"], told["rejected"]) == (1, 1, 1)
    before, after = load_dataset(data), load_dataset(tmp_path / "clean")
    assert after.texts == before.texts
    names = lambda d, row: {d.label_names[c] for c in d.labels[row].indices}  # noqa: E731
    added, removed = chosen[0], chosen[1]
    assert added["label"] in names(after, added["row"]) - names(before, added["row"])
    assert removed["label"] in names(before, removed["row"]) - names(after, removed["row"])
    assert len(load_dataset(tmp_path / "clean", "test")) == 20


def test_decisions_in_csv_and_label_studio(rankae, data, tmp_path):
    rankae("audit", data, "-o", tmp_path / "flags.csv", *OPTIONS)
    with open(tmp_path / "flags.csv", newline="") as file:
        lines = list(csv.DictReader(file))
    lines[0]["decision"] = "accept"
    with open(tmp_path / "d.csv", "w", newline="") as file:
        table = csv.DictWriter(file, lines[0])
        table.writeheader()
        table.writerows(lines)
    ended = rankae("audit", "apply", tmp_path / "d.csv", data, "-o", tmp_path / "a.jsonl", "--json")
    told = json.loads(ended.out)
    assert told["added"] + told["removed"] == 1

    rankae("audit", data, "-o", tmp_path / "tasks.json", "--format", "label-studio", *OPTIONS)
    tasks = json.loads((tmp_path / "tasks.json").read_text())
    tasks[0]["annotations"] = [{"result": [{"value": {"choices": ["accept"]}}]}]
    (tmp_path / "t.json").write_text(json.dumps(tasks))
    assert rankae("audit", "apply", tmp_path / "t.json", data, "-o", tmp_path / "b.jsonl").code == 0
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()


def test_undecided_flags_may_be_accepted_by_probability(rankae, data, flags, tmp_path):
    ended = rankae("audit", "apply", flags, data, "-o", tmp_path / "c.jsonl", "--accept", "0", "--json")
    assert json.loads(ended.out)["added"] == 15
    assert json.loads(ended.out)["removed"] == 15


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"row": 999}, "there is no row 999"),
        ({"label": "unheard"}, "has no label 'unheard'"),
        ({"decision": "perhaps"}, "must be accept or reject"),
        ({"kind": "odd"}, "needs row, label and kind"),
        ({"decision": None}, "no flag has been decided"),
    ],
)
def test_decisions_that_do_not_fit_write_nothing(rankae, data, flags, tmp_path, change, told):
    line = decided(flags)[0] | change
    (tmp_path / "d.jsonl").write_text(json.dumps(line) + "\n")
    ended = rankae("audit", "apply", tmp_path / "d.jsonl", data, "-o", tmp_path / "clean")
    assert (ended.code, ended.out) == (2, "")
    assert told in ended.err
    assert [p.name for p in tmp_path.iterdir()] == ["d.jsonl"]


def test_the_input_is_never_written_over(rankae, data, flags):
    before = (data / "train.jsonl").read_bytes()
    for out in (data, data / "train.jsonl"):
        ended = rankae("audit", "apply", flags, data, "-o", out, "--accept", "0")
        assert ended.code == 2
        assert "choose another place" in ended.err
    assert (data / "train.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    ("outputs", "told"),
    [
        (["-o", "rows.csv"], "is the input itself"),
        (["-o", "flags.csv", "--html", "rows.csv"], "is the input itself"),
        (["-o", "flags.csv", "--html", "flags.csv"], "is named twice"),
        (["-o", "flags.xlsx"], ".jsonl, .csv or .json"),
        (["-o", "."], "is a folder"),
        (["-o", "flags.csv", "--method", "nosuch"], "there is no method 'nosuch'"),
        (["-o", "flags.csv", "--method", "knn", "--set", "odd=1"], "odd"),
    ],
)
def test_outputs_that_would_do_harm_are_refused(rankae, data, tmp_path, monkeypatch, outputs, told):
    rows = load_dataset(data)
    names = [";".join(rows.label_names[c] for c in own.indices) for own in rows.labels]
    with open(tmp_path / "rows.csv", "w", newline="") as file:
        csv.writer(file).writerows([("text", "labels"), *zip(rows.texts, names, strict=True)])
    before = (tmp_path / "rows.csv").read_bytes()
    monkeypatch.chdir(tmp_path)
    ended = rankae("audit", "rows.csv", *outputs)
    assert (ended.code, ended.out) == (2, "")
    assert told in ended.err
    assert [p.name for p in tmp_path.iterdir()] == ["rows.csv"]
    assert (tmp_path / "rows.csv").read_bytes() == before


def test_decisions_are_not_written_over(rankae, data, flags, tmp_path):
    (tmp_path / "d.jsonl").write_bytes(flags.read_bytes())
    ended = rankae("audit", "apply", tmp_path / "d.jsonl", data, "-o", tmp_path / "d.jsonl", "--accept", "0")
    assert ended.code == 2
    assert "holds the decisions" in ended.err
    assert (tmp_path / "d.jsonl").read_bytes() == flags.read_bytes()


def test_a_model_of_other_labels_is_refused(rankae, data, model, tmp_path):
    (tmp_path / "other.jsonl").write_text('{"text": "a", "labels": ["never seen"]}\n' * 30)
    ended = rankae("audit", tmp_path / "other.jsonl", "--model", model, "-o", tmp_path / "f.jsonl")
    assert ended.code == 2
    assert "labels" in ended.err
    assert [p.name for p in tmp_path.iterdir()] == ["other.jsonl"]


def test_a_model_judges_rows_that_it_has_not_seen(rankae, data, model, tmp_path):
    ended = rankae("audit", data / "test.jsonl", "--model", model, "-o", tmp_path / "f.jsonl", "--top", "5")
    assert ended.code == 0
    assert len((tmp_path / "f.jsonl").read_text().splitlines()) == 10


def test_help_is_that_of_the_audit(rankae):
    shown = rankae("audit", "--help").out
    assert "Usage: rankae audit [OPTIONS] " in shown
    assert "--folds" in shown
    assert "audit apply" in shown
