"""Bars are for people who wait at a terminal: silent elsewhere, silent for short work."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stderr

import pytest

from rankae import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def impatient(monkeypatch) -> None:
    """Bars show at once, on a terminal that is wide enough for all that they say."""
    monkeypatch.setattr(progress, "PATIENCE_SECONDS", 0)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")


def shown_by(work: Callable[[], object]) -> str:
    """What a terminal gets to see of some work."""
    with redirect_stderr(Terminal()) as screen:
        work()
    return screen.getvalue()


def test_track_yields_everything_and_is_silent_off_a_terminal(capfd):
    assert list(progress.track(iter("abc"), "letters")) == ["a", "b", "c"]
    assert capfd.readouterr() == ("", "")


def test_short_work_is_silent_on_a_terminal(monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE_SECONDS", 60)
    assert shown_by(lambda: list(progress.track([1, 2], "numbers"))) == ""


def test_long_work_shows_what_is_done_and_what_is_told():
    def work() -> None:
        with progress.bar("training", total=1000) as bar:
            bar.advance(10, loss=0.12345678, epoch=3)
            bar.advance(500)

    shown = shown_by(work)
    assert "training" in shown
    assert "510/1000" in shown
    assert "loss 0.1235" in shown  # values stay until they are told anew
    assert "epoch 3" in shown


def test_track_takes_the_total_from_the_length():
    assert "3/3" in shown_by(lambda: list(progress.track([1, 2, 3], "numbers")))


def test_work_of_unknown_length_shows_what_is_done():
    assert "3/?" in shown_by(lambda: list(progress.track(iter("abc"), "letters")))


def test_a_bar_may_run_inside_another():
    def work() -> None:
        for _ in progress.track(range(2), "outer"):
            for _ in progress.track(range(3), "inner"):
                pass

    shown = shown_by(work)
    assert "outer" in shown
    assert "inner" in shown
    assert progress._display._progress is None  # the display ended with its last bar


def test_an_error_ends_the_display():
    def work() -> None:
        with progress.bar("training", total=2) as bar:
            bar.advance()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        shown_by(work)
    assert progress._display._progress is None


def test_import_is_cheap():
    code = (
        "import sys, rankae, rankae.progress; print(sorted({'rich', 'numpy', 'torch', 'sklearn'} & set(sys.modules)))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"
