"""A new user with a spreadsheet of id, title, body and tags: from the file to tags in the spreadsheet."""

from __future__ import annotations

import csv
import json

import pytest

FAST = ("--preset", "fast")


@pytest.fixture
def folder(articles, table, tmp_path):
    table(tmp_path / "articles.csv", articles["train"])
    table(tmp_path / "new.csv", articles["new"], ";", "utf-8-sig")  # as a European Excel saves it
    return tmp_path


def test_from_a_spreadsheet_to_tags_in_a_spreadsheet(rankae, folder, articles):
    seen = rankae("data", "info", folder / "articles.csv")
    assert "read: text from title, body; labels from tags, separated by '|'; id from id" in seen.out
    trained = rankae("train", folder / "articles.csv", "--model", folder / "tagger", *FAST)
    assert (trained.code, trained.err) == (0, "")
    assert "read: text from title, body" in trained.out

    measured = json.loads(rankae("evaluate", folder / "tagger", folder / "new.csv", "--json").out)
    assert measured["P@1"] > 90  # with the body alone it cannot: two rows in three are told by their titles
    assert measured["P@3"] <= measured["P@3-best"] < 50

    tagged = rankae("predict", folder / "tagger", folder / "new.csv", "-k", "2", "--keep", "title", "-o",
                    folder / "tagged.csv", "--bom")  # fmt: skip
    assert (tagged.code, tagged.out, tagged.err) == (0, "", "")
    with open(folder / "tagged.csv", newline="", encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    assert [(row["id"], row["title"]) for row in rows] == [(a.id, a.title) for a in articles["new"]]
    right = sum(row["label_1"] in article.tags for row, article in zip(rows, articles["new"], strict=True))
    assert right > 0.9 * len(rows)
    assert {row["label_1"] for row in rows} >= {"Käse & Öl"}

    lines = rankae("predict", folder / "tagger", folder / "new.csv").out
    assert "Käse & Öl" in lines
    first = json.loads(lines.splitlines()[0])
    assert set(first) == {"id", "labels", "scores", "probabilities"}
    sure = rankae("predict", folder / "tagger", folder / "new.csv", "--threshold", ".5", "--min-labels", "1").out
    counts = [len(json.loads(line)["labels"]) for line in sure.splitlines()]
    assert min(counts) >= 1
    assert sum(counts) < 5 * len(counts)

    why = rankae("explain", folder / "tagger", folder / "new.csv", "--row", "0", "--json")
    assert json.loads(why.out)["labels"][0]["label"] == first["labels"][0]
    text = rankae("explain", folder / "tagger", "a concert with violin and choir", "-k", "1", "--json")
    assert json.loads(text.out)["labels"][0]["label"] == "music"


def test_what_goes_wrong_in_the_first_hour_is_one_sentence(rankae, folder, articles, table):
    assert rankae("train", folder / "articles.csv", "--model", folder / "m", "--method", "knn").code == 0
    table(folder / "other.csv", articles["new"])
    bodies = [["id", "body"], *([a.id, a.body] for a in articles["new"])]
    with open(folder / "bodies.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(bodies)
    (folder / "folder").mkdir()
    (folder / "blank.csv").write_text("\n\n\n")
    (folder / "features.txt").write_text("2 4 2\n0 0:1 1:2\n1 2:1\n")
    for command, told in [
        (("predict", folder / "m", folder / "bodies.csv"), "title, body, but the columns here are id, body"),
        (("explain", folder / "m", folder / "new.csv"), "choose the one to explain with --row"),
        (("train", folder / "other.csv", "--model", folder / "m"), "--force"),
        (("train", folder / "articles.csv", "--model", folder / "n", "--label-column", "topics"), "no column 'topics'"),
        (("data", "info", folder / "folder"), "no train.* or test.*"),
        (("data", "info", folder / "blank.csv"), "only empty lines"),
        (("predict", folder / "m", folder / "features.txt"), "the model reads texts, but these rows are feature"),
        (("evaluate", folder / "m", folder / "features.txt"), "the model reads texts, but these rows are feature"),
        (("compare", folder / "articles.csv", "--methods", "", "--out", folder / "c"), "no method is named"),
        (("compare", folder / "articles.csv", "--methods", "knn", "--out", folder / "new.csv"), "takes a folder"),
        (("predict", folder / "m", folder / "new.csv", "--keep", "author"), "no column 'author' to keep"),
    ]:
        ended = rankae(*command)
        assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1), command
        assert told in ended.err
