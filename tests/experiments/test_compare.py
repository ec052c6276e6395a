"""The comparison from end to end, with methods that take no time."""

from __future__ import annotations

import csv
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from rankae.errors import DataError, RankaeError
from rankae.experiments.compare import compare
from rankae.experiments.plan import Contender, contenders


def test_all_files_say_the_same(texts: str, matrix: str, here, ran) -> None:
    methods = contenders(["popular", "knn", "one-vs-rest", "xml-cnn"])
    methods = [m if m.method != "xml-cnn" else Contender("cnn", "fasttext", {"epochs": 2}) for m in methods]
    summary = compare([texts, matrix], methods, here(), seeds=2)
    out = here().folder
    score = summary.scores["texts", "knn", "P@1"]

    lines = list(csv.DictReader((out / "table.csv").open()))
    (line,) = [x for x in lines if (x["data"], x["method"], x["measure"]) == ("texts", "knn", "P@1")]
    assert float(line["mean"]) == pytest.approx(score.mean, abs=1e-4)
    results = json.loads((out / "results.json").read_text())
    assert results["data"]["texts"]["knn"]["scores"]["P@1"]["mean"] == pytest.approx(score.mean)
    assert f"{score.mean:.2f}" in (out / "table.md").read_text()
    assert f"{score.mean:.2f}" in (out / "table.tex").read_text()

    # A text method on features: a dash in the table, its reason below, and one attempt for two seeds.
    row = next(x for x in (out / "table.md").read_text().splitlines() if x.startswith("| matrix | P@1"))
    assert row.rstrip(" |").endswith("-")
    assert "reads raw text" in results["data"]["matrix"]["cnn"]["reason"]
    assert ran.count(("fasttext", "cannot")) == 1
    # Seeds make no difference to methods without randomness.
    assert ran.count(("knn", "done")) == 2
    assert ran.count(("one-vs-rest", "done")) == 4
    assert summary.scores["texts", "one-vs-rest", "P@1"].seeds == 2

    best = max(summary.methods, key=lambda m: summary.scores["texts", m, "P@1"].mean)
    assert summary.scores["texts", best, "P@1"].is_best
    assert re.search(rf"\*\*{summary.scores['texts', best, 'P@1'].mean:.2f}", (out / "table.md").read_text())
    popular = summary.scores["texts", "popular", "P@1"]
    assert popular.to_best is not None
    assert popular.to_best.real
    assert set(summary.rank_scores) == {"P", "nDCG", "PSP"}


def test_the_page_stands_alone_and_its_plots_are_sound(texts: str, here) -> None:
    compare([texts], contenders(["popular", "knn"]), here())
    page = (here().folder / "report.html").read_text()

    class Reader(HTMLParser):
        asked: list[str] = []  # noqa: RUF012

        def handle_starttag(self, tag, attrs):
            self.asked += [value for name, value in attrs if name in ("src", "href")]

    reader = Reader()
    reader.feed(page)
    assert reader.asked == []
    plots = re.findall(r"<svg.*?</svg>", page, re.S)
    assert len(plots) == 2
    for plot in plots:
        words = " ".join(ElementTree.fromstring(plot).itertext())
        assert "percent" in words
        assert "knn" in words


def test_finished_cells_are_never_run_again(texts: str, here, ran) -> None:
    methods = contenders(["popular", "knn"])
    first = compare([texts], methods, here())
    assert len(ran) == 2
    assert compare([texts], methods, here()).scores == first.scores
    assert len(ran) == 2
    compare([texts], contenders(["popular", "knn"], ["knn.neighbours=3"]), here())
    assert ran[2:] == [("knn", "done")]


def test_a_report_of_what_is_finished_runs_nothing(texts: str, matrix: str, here, ran) -> None:
    methods = contenders(["popular", "one-vs-rest", "knn"])
    with pytest.raises(RankaeError, match="none of these cells is finished"):
        compare([texts, matrix], methods, here(report_only=True))
    compare([texts], methods[:2], here(), seeds=2)
    finished = len(ran)
    summary = compare([texts, matrix], methods, here(report_only=True))
    assert len(ran) == finished
    assert (summary.data, summary.methods) == (["texts"], ["popular", "one-vs-rest"])
    assert [summary.seeds("texts", method) for method in ("popular", "one-vs-rest", "knn")] == [1, 2, 0]
    assert "| texts | one-vs-rest | 2 |" in (here().folder / "table.md").read_text()


def test_a_failed_cell_does_not_stop_the_others(texts: str, here, ran, monkeypatch) -> None:
    def burst(*_):
        raise RuntimeError("burst | pipe")

    with monkeypatch.context() as broken:
        broken.setattr("rankae.rivals.knn.NearestRows._fit", burst)
        summary = compare([texts], contenders(["knn", "popular"]), here())
    assert ran == [("knn", "failed"), ("popular", "done")]
    assert summary.reasons["texts", "knn"] == "RuntimeError: burst | pipe"
    assert "burst \\| pipe" in (here().folder / "table.md").read_text()
    compare([texts], contenders(["knn", "popular"]), here())
    assert len(ran) == 2
    summary = compare([texts], contenders(["knn", "popular"]), here(retry=True))
    assert ran[2:] == [("knn", "done")]
    assert summary.reasons == {}


def test_tuned_methods_use_what_the_search_found(texts: str, here, ran) -> None:
    pytest.importorskip("optuna")
    summary = compare([texts], contenders(["knn", "popular"]), here(), tune_trials=3)
    assert len(ran) == 3  # a search and a measurement of knn; popular has nothing to tune
    (found,) = [json.loads(p.read_text()) for p in (here().folder / "cells").glob("*tune3*.json")]
    assert found["trials"] == 3
    assert summary.parameters.get(("texts", "knn"), {}) == found["parameters"]
    again = compare([texts], contenders(["knn", "popular"]), here(report_only=True), tune_trials=3)
    assert (again.scores, again.parameters, len(ran)) == (summary.scores, summary.parameters, 3)


def test_mistakes_are_told_before_anything_runs(texts: str, here, ran, tmp_path: Path) -> None:
    with pytest.raises(RankaeError, match="no method 'nonsense'"):
        contenders(["nonsense"])
    with pytest.raises(RankaeError, match="METHOD.PARAMETER=VALUE"):
        contenders(["knn"], ["neighbours=3"])
    with pytest.raises(RankaeError, match="not among the methods"):
        contenders(["knn"], ["popular.x=3"])
    with pytest.raises(DataError, match="there is no such"):
        compare([texts, str(tmp_path / "nowhere")], contenders(["popular"]), here())
    with pytest.raises(DataError, match="two data sets are called 'texts'"):
        compare([texts, "elsewhere/texts"], contenders(["popular"]), here())
    assert ran == []


def test_reports_can_share_what_was_measured_whatever_they_call_it(matrix: str, here, ran, tmp_path: Path) -> None:
    cells = tmp_path / "cells"
    compare([matrix], [Contender("knn", "knn")], here(cells=cells))
    summary = compare([matrix], [Contender("nearest rows", "knn")], here(cells=cells))
    assert ran == [("knn", "done")]
    assert summary.methods == ["nearest rows"]
    assert not (here().folder / "cells").exists()


def test_a_method_that_is_not_to_be_tuned_keeps_its_defaults(texts: str, here, ran) -> None:
    methods = contenders(["knn", "popular"], untuned=["knn"])
    summary = compare([texts], methods, here(), tune_trials=3)
    assert not summary.parameters
    assert len(ran) == 2  # a measurement of each, and no search


def test_settings_are_read_as_train_reads_them():
    (found,) = contenders(["parabel"], ["parabel.title=.5", "parabel.ngrams=(1, 2)", "parabel.cluster_balanced=False"])
    assert found.parameters == {"title": 0.5, "ngrams": (1, 2), "cluster_balanced": False}


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ("knn.neighbours=five", "knn: neighbours cannot be 'five'; it takes a whole number"),
        ("knn.k=5", "knn has no parameter 'k'"),
        ("neighbours=5", "is not of the form METHOD.PARAMETER=VALUE"),
        ("popular.k=5", "which is not among the methods"),
    ],
)
def test_a_setting_is_checked_before_any_work(setting, sentence):
    with pytest.raises(RankaeError, match=sentence):
        contenders(["knn"], [setting])
