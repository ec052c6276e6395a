"""`rankae demo --small`: everything that a first reader is promised."""

from __future__ import annotations

import json

import pytest

from rankae.cli.training_page import Example, write_report
from rankae.methods import create


@pytest.mark.slow
def test_the_whole_story(rankae, tmp_path):
    ended = rankae("demo", "--small", "--out", tmp_path)
    assert (ended.code, ended.err) == (0, "")
    assert all(f"{name}@{k}" in ended.out for name in ("P", "nDCG", "PSP") for k in (1, 3, 5))
    page = (tmp_path / "report.html").read_text()
    assert "<polyline" in page
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")
    told = json.loads(rankae("evaluate", tmp_path / "model", tmp_path / "data", "--json").out)
    assert told["P@1"] > 60


def test_the_report_escapes_what_data_says(tmp_path):
    model = create("popular").fit(["a b", "b c"], [["<b>"], ["&"]])
    facts = {"data": "<data>", "rows": 2, "labels": 2, "features": 3, "seconds": 0.1, "fingerprint": "0", "choices": {}}
    example = Example("<script>alert(1)</script>", ["<b>"], ["<b>", "&"], [1.0, 0.5])
    write_report(tmp_path / "r.html", model, facts, {"<model>": {"P@1": 50.0}}, [example])
    page = (tmp_path / "r.html").read_text()
    assert "<script>alert" not in page
    assert "<b>" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "closed form" in page


def test_the_report_draws_each_network_and_held_out_precision(tmp_path):
    model = create("popular").fit(["a b", "b c"], [["x"], ["y"]])
    facts = {
        "data": "d",
        "rows": 2,
        "labels": 2,
        "features": 3,
        "seconds": 0.1,
        "fingerprint": "0",
        "choices": {"k": "5"},
    }
    history = [{"member": m, "epoch": e, "loss": 1 / e, "P@1": 10.0 * e} for m in (1, 2) for e in (1, 2, 3)]
    write_report(tmp_path / "r.html", model, facts, histories={"Training": [{"fold": 1}, *history]})
    page = (tmp_path / "r.html").read_text()
    assert "network 1" in page
    assert "network 2" in page
    assert "Precision on held-out rows" in page
