"""The benchmarks run from start to end on tiny generated data and write what they promise."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

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
