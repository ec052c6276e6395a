"""A cell's process may die in any way: the cell gets a reason, and the experiment goes on."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from rankae.experiments.cells import Cell, Store
from rankae.experiments.isolated import INTERRUPTED, run_isolated

CELL = Cell("anything", "popular")

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="stands a shell script in for Python")


def instead_of_python(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, script: str) -> Store:
    program = tmp_path / "python"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    return Store(tmp_path / "cells")


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("kill -9 $$", "want of memory"),
        ("kill -11 $$", "signal 11"),
        ("echo 'OSError: gone' >&2; exit 3", "exit code 3: OSError: gone"),
        ("exit 0", "exit code 0"),
    ],
)
def test_a_process_that_dies_is_a_failed_cell(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, script: str, reason: str
) -> None:
    store = instead_of_python(monkeypatch, tmp_path, script)
    result = run_isolated(CELL, store)
    assert result["status"] == "failed"
    assert reason in result["reason"]
    kept = store.find(CELL)
    assert kept is not None
    assert kept["reason"] == result["reason"]


def test_a_cell_that_takes_too_long_is_ended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    store = instead_of_python(monkeypatch, tmp_path, "exec sleep 60")
    result = run_isolated(CELL, store, minutes=0.005)
    assert (result["status"], result["reason"]) == ("failed", "it took longer than 0.005 minutes")


def test_an_interruption_is_no_result(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    store = instead_of_python(monkeypatch, tmp_path, f"exit {INTERRUPTED}")
    with pytest.raises(KeyboardInterrupt):
        run_isolated(CELL, store)
    assert store.find(CELL) is None


def test_a_cell_of_its_own_process_is_measured_with_its_memory(matrix: str, tmp_path: Path) -> None:
    store = Store(tmp_path)
    cell = Cell(matrix, "popular")
    result = run_isolated(cell, store)
    assert result["status"] == "done", result
    assert result["peak_megabytes"] > 10
    assert len(store.rows(cell)["P@1"]) == result["test_rows"]


def test_a_cell_ends_when_the_process_that_started_it_is_gone():
    """A first process starts a second, which would sleep for a minute and holds the output open, and is killed."""
    second = "from rankae.experiments.isolated import end_with_parent as e; e(0.05); print(flush=True); import time"
    first = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {second + '; time.sleep(60)'!r}])"
    process = subprocess.Popen([sys.executable, "-c", first], stdout=subprocess.PIPE)
    process.stdout.readline()  # the second one is at work
    process.kill()
    process.communicate(timeout=30)  # returns when nobody holds the output any more
