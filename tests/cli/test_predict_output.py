"""What `rankae predict` hands on: ids and columns, tables that spreadsheets open, files that stay what they are."""

from __future__ import annotations

import csv
import json
import os
import stat
import subprocess
import sys
import threading

import pytest

from rankae.methods import create, load
from rankae.report.formulas import escape_formula, unescape_formula

ARTICLES = 'id,title,body,tags\n007,Äpfel,red green,fruit\nx-2,"=1+1",white red,drink\n'


@pytest.fixture(scope="module")
def articles(tmp_path_factory):
    """A model of CSV with id, title, body and tags, one of which a spreadsheet would run."""
    from rankae.data import load_dataset

    folder = tmp_path_factory.mktemp("articles")
    rows = [f"{i},title {i},red green apple,fruit" for i in range(8)]
    rows += [f"{i},title {i},white red wine,=2+3;Getränk" for i in range(8, 16)]
    (folder / "train.csv").write_text("id,title,body,tags\n" + "\n".join(rows) + "\n", encoding="utf-8")
    create("knn").fit_dataset(load_dataset(folder / "train.csv")).save(folder / "m")
    (folder / "new.csv").write_text(ARTICLES, encoding="utf-8")
    return folder


def test_ids_and_kept_columns_go_along_in_readable_json(rankae, articles):
    out = rankae("predict", articles / "m", articles / "new.csv", "--keep", "title,tags", "-k", "3").out
    assert "Getränk" in out
    assert "Äpfel" in out
    lines = [json.loads(line) for line in out.splitlines()]
    assert [(line["id"], line["title"], line["tags"]) for line in lines] == [
        ("007", "Äpfel", "fruit"),
        ("x-2", "=1+1", "drink"),
    ]
    assert lines[0]["labels"][0] == "fruit"


def test_a_csv_for_spreadsheets(rankae, articles, tmp_path):
    how = ("predict", articles / "m", articles / "new.csv", "--keep", "title", "-o")
    assert rankae(*how, tmp_path / "out.csv", "--bom").code == 0
    content = (tmp_path / "out.csv").read_bytes()
    assert content.startswith(b"\xef\xbb\xbfid,title,label_1,score_1,probability_1")
    rows = list(csv.DictReader(content.decode("utf-8-sig").splitlines()))
    assert [(row["id"], row["title"]) for row in rows] == [("007", "Äpfel"), ("x-2", "'=1+1")]
    assert "'=2+3" in {row[f"label_{i}"] for row in rows for i in (1, 2, 3)}
    assert rankae(*how, tmp_path / "plain.csv", "--formulas").code == 0
    assert b"\nx-2,=1+1," in (tmp_path / "plain.csv").read_bytes()


@pytest.mark.parametrize("cell", ["=1+1", "+cmd", "-x", "@SUM(A1)", "\t=1"])
def test_what_a_spreadsheet_would_run_is_escaped(cell):
    assert escape_formula(cell) == f"'{cell}"
    assert unescape_formula(f"'{cell}") == cell
    assert [escape_formula(cell) for cell in ("a=b", "-1.5", 3, None, "")] == ["a=b", "-1.5", 3, None, ""]


def test_a_workbook(rankae, articles, tmp_path):
    openpyxl = pytest.importorskip("openpyxl", reason="needs the extra 'xlsx'")
    ended = rankae("predict", articles / "m", articles / "new.csv", "--keep", "title", "-o", tmp_path / "out.xlsx")
    assert (ended.code, ended.out) == (0, "")
    rows = list(openpyxl.load_workbook(tmp_path / "out.xlsx").active.iter_rows())
    assert [cell.value for cell in rows[0]][:4] == ["id", "title", "label_1", "score_1"]
    assert [cell.value for cell in rows[2]][:2] == ["x-2", "=1+1"]
    assert rows[2][1].data_type == "s"


def test_an_empty_table_still_has_its_head(rankae, articles, tmp_path):
    (tmp_path / "none.csv").write_text("title,body\n")
    ended = rankae("predict", articles / "m", tmp_path / "none.csv", "--csv", "-k", "1")
    assert (ended.code, ended.out) == (0, "label_1,score_1,probability_1\n")


def test_a_threshold_and_how_many_labels_there_may_be(rankae, articles, tmp_path):
    model = load(articles / "m")
    texts, labels = ["red green apple", "white red wine"], [["fruit"], ["Getränk", "=2+3"]]
    model.calibrate(texts * 60, labels * 60).save(tmp_path / "m")

    def answers(*options):
        out = rankae("predict", tmp_path / "m", articles / "new.csv", *options).out
        return [json.loads(line) for line in out.splitlines()]

    everything = answers()
    assert [len(answer["labels"]) for answer in everything] == [3, 3]
    assert all(len(answer["probabilities"]) == 3 for answer in everything)
    likely = answers("--threshold", ".5")
    assert [set(answer["labels"]) for answer in likely] == [{"fruit"}, {"Getränk", "=2+3"}]
    assert all(p >= 0.5 for answer in likely for p in answer["probabilities"])
    assert [len(a["labels"]) for a in answers("--threshold", "1", "--min-labels", "1")] == [1, 1]
    assert [len(a["labels"]) for a in answers("--threshold", ".5", "--max-labels", "1")] == [1, 1]


def test_mistakes_in_what_to_hand_on(rankae, articles):
    for options, told in (
        (["--keep", "author"], "there is no column 'author' to keep among id, title, body, tags"),
        (["--keep", "scores"], "a line of the answer has a field of that name"),
        (["--min-labels", "9"], "--min-labels 9 is more than the 5 labels"),
        (["--threshold", "0.5"], "so it has no probabilities for --threshold"),
    ):
        ended = rankae("predict", articles / "m", articles / "new.csv", *options)
        assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
        assert told in ended.err


def test_an_output_that_is_a_link_or_a_pipe_stays_one(rankae, articles, tmp_path):
    (tmp_path / "real.jsonl").write_text("old")
    (tmp_path / "link.jsonl").symlink_to("real.jsonl")
    assert rankae("predict", articles / "m", articles / "new.csv", "-o", tmp_path / "link.jsonl").code == 0
    assert (tmp_path / "link.jsonl").is_symlink()
    assert (tmp_path / "real.jsonl").read_text().count("\n") == 2
    if not hasattr(os, "mkfifo"):
        return
    os.mkfifo(tmp_path / "pipe")
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    assert rankae("predict", articles / "m", articles / "new.csv", "-o", tmp_path / "pipe").code == 0
    reader.join(timeout=20)
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    assert read[0].count(b"\n") == 2


@pytest.mark.skipif(sys.platform == "win32", reason="there only sockets can be asked whether more has come")
@pytest.mark.parametrize("head", [b"", b"id,title,body\n"])
def test_answers_come_as_lines_come(articles, head):
    """Each answer is read before the next line is written: one that waited for more would wait for ever."""
    command = [sys.executable, "-m", "rankae", "predict", str(articles / "m"), "-", "-k", "1"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        patience = threading.Timer(120, process.kill)  # then the answer is empty, and the test fails
        patience.start()
        process.stdin.write(head)
        for line, label in (("1,a,white wine", "=2+3"), ("2,b,green apple", "fruit"), ("3,c,wine", "=2+3")):
            process.stdin.write((line if head else line.rpartition(",")[2]).encode() + b"\n")
            process.stdin.flush()
            answer = json.loads(process.stdout.readline())
            assert (answer["labels"] == ["fruit"]) == (label == "fruit")
            assert answer.get("id") == (line[0] if head else None)
        process.stdin.close()
        assert process.stdout.read() == b""
        assert process.wait() == 0
        patience.cancel()
