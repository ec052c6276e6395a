"""The commands as a shell sees them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rankae.cli.entry import run


def test_compare(texts: str, matrix: str, tmp_path: Path, capsys) -> None:
    out = tmp_path / "out"
    command = ["compare", texts, matrix, "--methods", "popular,knn", "--no-isolate", "--out", str(out), "--k", "1,2"]
    assert run(command) == 0
    shown = capsys.readouterr()
    assert "rank score" in shown.out
    assert "knn seed 0" in shown.err
    assert run([*command, "--json"]) == 0
    shown = capsys.readouterr()
    assert "PSP@2" in json.loads(shown.out)["data"]["matrix"]["knn"]["scores"]
    assert shown.err == ""  # everything was finished already
    assert (
        run([*command[:3], "--methods", "popular,plt", "--out", str(out), "--k", "1,2", "--report-only", "--json"]) == 0
    )
    assert list(json.loads(capsys.readouterr().out)["data"]["matrix"]) == ["popular"]
    assert run([*command, "--again", "popular"]) == 0
    assert capsys.readouterr().err.count("popular seed 0") == 2


def test_two_processes_at_a_time(texts: str, tmp_path: Path, capsys) -> None:
    out = str(tmp_path / "out")
    assert run(["compare", texts, "--methods", "popular,knn", "--jobs", "2", "--out", out, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["data"]["texts"]
    assert all(found[method]["costs"]["peak_megabytes"] > 10 for method in ("popular", "knn"))


def test_noise(matrix: str, tmp_path: Path, capsys) -> None:
    out = str(tmp_path / "out")
    command = ["noise", matrix, "--kind", "missing,flip", "--rates", "0,.5", "--methods", "knn", "--no-isolate"]
    assert run([*command, "--tune-trials", "0", "--out", out, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["data"]
    assert list(found) == [f"matrix, {kind} {rate} %" for kind in ("missing", "flip") for rate in (0, 50)]


def test_tune(matrix: str, tmp_path: Path, capsys) -> None:
    pytest.importorskip("optuna")
    assert run(["tune", matrix, "--method", "knn", "--trials", "2", "--out", str(tmp_path / "out"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["trials"] == 2
    assert run(["evaluate", str(tmp_path / "out" / "model"), matrix, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["P@1"] > 30


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        (["compare", "nowhere-at-all"], "nowhere-at-all"),
        (["compare", "bibtex", "--methods", "nonsense"], "no method 'nonsense'"),
        (["compare", "bibtex", "--k", "none"], "--k takes numbers"),
        (["compare", "bibtex", "--jobs", "2", "--no-isolate"], "--jobs needs"),
        (["noise", "bibtex", "--rates", "often"], "--rates is 'often'"),
        (["noise", "bibtex", "--kind", "hum"], "no noise 'hum'"),
        (["tune", "nowhere-at-all"], "nowhere-at-all"),
    ],
)
def test_mistakes(command: list[str], sentence: str, tmp_path: Path, capsys) -> None:
    assert run([*command, "--out", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert len(said.strip().splitlines()) == 1
    assert not (tmp_path / "out").exists()
