"""What `train` reads, it tells and keeps; every later command reads the same columns or refuses."""

from __future__ import annotations

import csv
import json

import pytest

from rankae.data import make_dataset
from rankae.methods import load

COLUMNS = ("nr", "headline_text", "story", "topic")
CHOICE = ("--text-column", "headline_text,story", "--label-column", "topic", "--id-column", "nr")


def write_table(path, data, columns=COLUMNS, delimiter=","):
    """Titles and stories, which share the words of each document, with columns of names nobody would guess."""
    with open(path, "w", newline="") as file:
        table = csv.writer(file, delimiter=delimiter)
        table.writerow(columns)
        for i, text in enumerate(data.texts):
            words = text.split()
            labels = "/".join(data.label_names[j] for j in data.labels[i].indices)
            cells = {"nr": f"r{i}", "headline_text": " ".join(words[::2]), "story": " ".join(words[1::2])}
            table.writerow([(cells | {"topic": labels})[name] for name in columns])
    return path


@pytest.fixture(scope="module")
def parts():
    return make_dataset(rows=80, labels=10, test_rows=20)


@pytest.fixture
def trained(rankae, parts, tmp_path):
    table = write_table(tmp_path / "train.csv", parts[0])
    ended = rankae("train", table, "--model", tmp_path / "m", "--method", "knn", *CHOICE, "--label-separator", "/")
    assert (ended.code, ended.err) == (0, "")
    assert "read: text from headline_text, story; labels from topic, separated by '/'; id from nr\n" in ended.out, (
        ended.out
    )
    return tmp_path / "m"


def test_the_model_reads_the_columns_that_it_was_trained_on(rankae, trained, parts, tmp_path):
    test = write_table(tmp_path / "new.csv", parts[1], delimiter=";")
    told = json.loads(rankae("evaluate", trained, test, "--json").out)
    assert told["P@1"] > 60
    ranker = load(trained)
    texts = [" ".join(t.split()[::2]) + "\n" + " ".join(t.split()[1::2]) for t in parts[1].texts]
    expected = ranker.predict_top(texts, 3)[0].tolist()
    for source, stdin in ((test, b""), ("-", test.read_bytes())):
        lines = rankae("predict", trained, source, "-k", "3", stdin=stdin).out.splitlines()
        assert [json.loads(line)["labels"] for line in lines] == expected
    explained = json.loads(rankae("explain", trained, test, "--row", "4", "--json").out)
    assert [label["label"] for label in explained["labels"][:3]] == expected[4]


def test_a_file_without_those_columns_is_refused_with_both_lists(rankae, trained, parts, tmp_path):
    test = write_table(tmp_path / "new.csv", parts[1], ("nr", "story", "topic"))
    for command in (["predict", trained, test], ["evaluate", trained, test], ["explain", trained, test, "--row", "0"]):
        ended = rankae(*command)
        assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
        assert "headline_text, story, but the columns here are nr, story, topic" in ended.err
    for delimiter in (",", ";"):
        write_table(test, parts[1], ("nr", "story", "topic"), delimiter)
        assert rankae("predict", trained, test, "--text-column", "story").code == 0


def test_data_info_tells_what_it_read(rankae, parts, tmp_path):
    table = write_table(tmp_path / "train.csv", parts[0])
    ended = rankae("data", "info", table, *CHOICE[:4], "--label-separator", "/")
    assert "read: text from headline_text, story; labels from topic, separated by '/'; no id column" in ended.out
    told = json.loads(rankae("data", "info", table, *CHOICE, "--json").out)
    assert told["reading"]["text_columns"] == ["headline_text", "story"]
    assert told["reading"]["id_column"] == "nr"


def test_experiments_read_the_columns_that_they_are_given(rankae, parts, tmp_path):
    table = write_table(tmp_path / "rows.csv", parts[0])
    how = ("--methods", "knn", "--no-isolate", "--json", *CHOICE[:4], "--label-separator", "/", "-o", tmp_path / "out")
    assert "P@1" in rankae("compare", table, *how).out
    plain = rankae("compare", table, "--methods", "knn", "--no-isolate", "--json", "-o", tmp_path / "other")
    assert "P@1" not in plain.out
    assert "there is no column" in plain.out


def test_a_data_file_is_explained_row_by_row(rankae, trained, parts, tmp_path):
    test = write_table(tmp_path / "new.csv", parts[1])
    ended = rankae("explain", trained, test)
    assert (ended.code, ended.out) == (2, "")
    assert "choose the one to explain with --row" in ended.err
