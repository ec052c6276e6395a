"""The benchmarks run from start to end on tiny generated data and write what they promise."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from rankae.data import make_dataset, write_dataset

BENCHMARKS = Path(__file__).parent.parent.parent / "benchmarks"


def run(script: str, *options: str) -> None:
    here = {name: value for name, value in os.environ.items() if name != "RANKAE_DATA"}
    subprocess.run([sys.executable, str(BENCHMARKS / script), *options], check=True, env=here, capture_output=True)


@pytest.mark.slow
def test_speed_compares_every_system_and_judges_the_targets(tmp_path: Path) -> None:
    pytest.importorskip("omikuji")
    pytest.importorskip("napkinxc")
    options = ("--rows", "200", "--repeats", "1", "--presets", "fast", "--threads", "1", "--skip-kernels")
    run("speed.py", *options, "--out", str(tmp_path))
    facts = json.loads((tmp_path / "speed.json").read_text())
    systems = facts["data"]["generated"]["systems"]
    assert list(systems) == ["omikuji", "napkinxc", "rankae-fast"]
    assert all(0 < record["P@1"][0] <= 100 and record["seconds"][0] > 0 for record in systems.values())
    assert any("omikuji" in target["what"] for target in facts["targets"])
    assert "## generated" in (tmp_path / "speed.md").read_text()
    assert (tmp_path / "speed.svg").read_text().startswith("<svg")


@pytest.mark.slow
def test_growth_fits_exponents_and_compares_accuracy(tmp_path: Path) -> None:
    options = ("--labels", "30000,60000", "--shortlist", "300", "--rows", "600", "--steps", "1", "--threads", "1")
    run("growth.py", *options, "--seeds", "1", "--epochs", "1", "--out", str(tmp_path))
    facts = json.loads((tmp_path / "growth.json").read_text())
    assert len(facts["measured"]) == 8
    assert len(facts["exponents"]) == 4
    assert [run["shortlist"] for run in facts["accuracy"]] == [0, 300]
    assert "growth.svg" in (tmp_path / "growth.md").read_text()


def test_few_rows_compares_methods_and_measures_nothing_twice(tmp_path: Path) -> None:
    data = tmp_path / "rows.jsonl"
    write_dataset(make_dataset(400, 20)[0], data)
    options = ("--data", str(data), "--rows", "60,120", "--methods", "popular,one-vs-rest", "--draws", "2")
    run("few_rows.py", *options, "--out", str(tmp_path))
    found = json.loads((tmp_path / "few-rows.json").read_text())
    assert len(found) == 8
    assert found[f"{data} 120 one-vs-rest 0"]["P@1"] > found[f"{data} 120 popular 0"]["P@1"]
    found[f"{data} 60 popular 0"]["P@1"] = found[f"{data} 60 popular 1"]["P@1"] = 12.3
    (tmp_path / "few-rows.json").write_text(json.dumps(found))
    run("few_rows.py", *options, "--out", str(tmp_path))
    assert f"| {data} | 60 | 2 | 12.3 / " in (tmp_path / "few-rows.md").read_text()


def test_noise_on_every_row_in_turn(tmp_path: Path) -> None:
    folder = tmp_path / "some"
    train, test = make_dataset(200, 12, test_rows=40)
    write_dataset(train, folder / "train.jsonl")
    write_dataset(test, folder / "test.jsonl")
    options = ("--data", str(folder), "--rates", "0,.9", "--folds", "2")
    options += ("--methods", "popular,one-vs-rest,one-vs-rest-untrusting")
    run("noise_folds.py", *options, "--out", str(tmp_path))
    page = (tmp_path / "noise-folds.md").read_text()
    assert "P@1: without noise, then points lost; 240 test rows" in page
    row = r"^\| {} \| (.*) \| (.*) \| (.*) \|$"
    clean, noisy = (re.search(row.format(rate), page, re.MULTILINE) for rate in ("no noise", "90 %"))
    assert float(clean[2]) > float(clean[1]) + 5
    assert noisy[1].startswith("**")  # what knows nothing has nothing to lose
    assert re.search(r"\([\d.]+ to [\d.]+\)", noisy[2])
    assert (clean[2], noisy[2]) == (clean[3], noisy[3])  # it makes no use of clean rows anyway
