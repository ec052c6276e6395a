"""Bars are for people who wait at a terminal: silent elsewhere, silent for short work."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stderr

import pytest

from rankae import progress
from rankae.data import load_dataset


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


def test_a_bar_says_which_stage_this_is_and_what_comes_next(caplog):
    def work() -> None:
        with progress.stages("the code", "the network", "the stacker"):
            for name, doing in (("the network", "training"), ("the stacker", "joining")):
                progress.stage(name)
                list(progress.track([1, 2, 3], doing))

    with caplog.at_level("INFO", logger="rankae"):
        shown = shown_by(work)
    assert "2 of 3, then the stacker: training" in shown
    assert "3 of 3: joining" in shown
    assert [record.getMessage() for record in caplog.records] == [
        "2 of 3: the network; then the stacker",
        "3 of 3: the stacker",
    ]


def test_quiet_is_quiet_on_a_terminal_too():
    progress.be_quiet()
    try:
        assert shown_by(lambda: list(progress.track([1, 2], "numbers"))) == ""
    finally:
        progress.be_quiet(False)
    assert "numbers" in shown_by(lambda: list(progress.track([1, 2], "numbers")))


def test_a_notebook_gets_one_line(monkeypatch, capsys):
    shell = type("ZMQInteractiveShell", (), {})()
    monkeypatch.setitem(sys.modules, "IPython", type("IPython", (), {"get_ipython": staticmethod(lambda: shell)}))
    monkeypatch.setattr(progress, "REPAINT_SECONDS", 0)
    list(progress.track([1, 2, 3, 4], "numbers"))
    shown = capsys.readouterr().err
    assert "\rnumbers 50%" in shown
    assert "\n" not in shown


def test_training_tells_the_logger_what_the_command_prints(rankae, data, tmp_path, caplog):
    from rankae import RankAE, load_dataset

    with caplog.at_level("INFO", logger="rankae"):
        RankAE("fast", random_state=0).fit_dataset(load_dataset(data))
    told = [record.getMessage() for record in caplog.records]
    assert any(line.startswith("1 of 1: the code") for line in told)
    printed = rankae("train", data, "--model", tmp_path / "m", "--preset", "fast").out
    choices = [line for line in told if line.startswith(("ngrams: ", "code_size: ", "components: "))]
    assert len(choices) == 3
    assert all(f"{line}\n" in printed for line in choices)
    quiet = rankae("train", data, "--model", tmp_path / "m", "--preset", "fast", "--quiet")
    assert (quiet.code, quiet.out, quiet.err) == (0, "", "")


@pytest.mark.parametrize(
    "command",
    [
        ("evaluate", "m", "data"),
        ("predict", "m", "data/test.jsonl", "-o", "out.jsonl"),
        ("audit", "data", "--method", "knn", "--folds", "2", "-o", "flags.jsonl"),
        ("update", "fast", "data/test.jsonl", "--out", "fast2", "--force"),
        ("shrink", "fast", "small"),
        ("compare", "data", "--methods", "knn,popular", "--no-isolate", "--out", "report"),
    ],
)
def test_quiet_commands_print_nothing_but_json(rankae, data, model, tmp_path, monkeypatch, command):
    from rankae import RankAE

    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").symlink_to(data)
    (tmp_path / "m").symlink_to(model)
    if "fast" in command:
        RankAE("fast").fit_dataset(load_dataset(data)).save(tmp_path / "fast")
    ended = rankae(*command, "--quiet")
    assert (ended.code, ended.out, ended.err) == (0, "", "")
    if command[0] == "evaluate":
        assert json.loads(rankae(*command, "--quiet", "--json").out)["rows"] == 20
        assert "P@1" in rankae(*command).out  # and the next command of a process is not quiet
