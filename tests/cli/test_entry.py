"""The root command: what it imports, what it lists, and how mistakes end."""

from __future__ import annotations

import errno
import os
import subprocess
import sys

import pytest

from rankae import __version__
from rankae.cli import entry
from rankae.cli.lazy_group import COMMANDS, Unopened
from rankae.errors import RankaeError


def test_help_lists_every_command_and_imports_nothing_heavy():
    code = (
        "import sys; from rankae.cli.entry import run; assert run(['--help']) == 0;"
        "print([m for m in ('numpy', 'scipy', 'sklearn', 'torch', 'numba', 'rich') if m in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.splitlines()[-1] == "[]"
    assert all(f"\n  {name} " in shown for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_opens_and_has_help(rankae, name):
    opened = Unopened(name, *COMMANDS[name]).open()
    assert opened.name == name
    shown = rankae(name, "--help")
    assert shown.code == 0
    assert f"Usage: rankae {name}" in shown.out


def test_opening_a_command_imports_nothing_heavy():
    code = (
        "import sys; from rankae.cli.lazy_group import COMMANDS, Unopened;"
        "[Unopened(name, *command).open() for name, command in COMMANDS.items()];"
        "print([m for m in ('numpy', 'scipy', 'torch') if m in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.strip() == "[]"


def test_version_and_no_command(rankae):
    assert rankae("--version").out == f"rankae {__version__}\n"
    assert "Commands:" in rankae().out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["trian"], "Did you mean 'train'?"),
        (["train"], "DATA"),
        (["train", "x"], "--model"),
        (["predict", "m", "x", "-k", "none"], "-k"),
        (["data"], "a command is missing"),
        (["--nothing"], "--nothing"),
    ],
)
def test_a_mistyped_command_line_is_one_sentence(rankae, arguments, told):
    ended = rankae(*arguments)
    assert ended.code == 2
    assert ended.out == ""
    assert ended.err.count("\n") == 1
    assert told in ended.err
    assert "--help" in ended.err


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (RankaeError("a sentence\nover two lines"), 2, "rankae: a sentence over two lines\n"),
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/there"), 2, "rankae: /there: No space left on device\n"),
        (MemoryError(), 2, "rankae: there is not enough memory for this; use fewer rows, or a larger machine\n"),
        (KeyboardInterrupt(), 130, ""),
    ],
)
def test_errors_end_in_a_sentence(rankae, monkeypatch, error, code, told):
    def fails(*_, **__):
        raise error

    monkeypatch.setattr("rankae.data.describe", fails, raising=False)
    monkeypatch.setattr("rankae.data.info.describe", fails)
    ended = rankae("data", "info", "x")
    assert (ended.code, ended.err) == (code, told)


def test_a_defect_of_ours_is_not_hidden(rankae, monkeypatch):
    def fails(*_, **__):
        raise ZeroDivisionError

    monkeypatch.setattr("rankae.data.info.describe", fails)
    with pytest.raises(ZeroDivisionError):
        rankae("data", "info", "x")


def test_completion_knows_commands_and_options():
    def completed(words: str, place: int) -> list[str]:
        environment = os.environ | {
            "_RANKAE_COMPLETE": "complete_bash",
            "COMP_WORDS": words,
            "COMP_CWORD": str(place),
        }
        command = [sys.executable, "-c", "from rankae.cli import main; main()"]
        return subprocess.run(command, capture_output=True, text=True, env=environment).stdout.split()

    assert completed("rankae ev", 1) == ["evaluate"]
    assert "parabel" in completed("rankae train x --method pa", 4)


def test_a_reader_that_leaves_is_no_error(model, data):
    command = f"{sys.executable} -m rankae predict {model} {data / 'train.jsonl'} --batch 1 | head -1"
    ended = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert ended.stderr == ""
    assert ended.stdout.startswith('{"labels"')


def test_what_main_returns_is_the_exit_code(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["rankae", "--version"])
    with pytest.raises(SystemExit, match="0"):
        entry.main()


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (("--method", "parable"), "parabel"),
        (("--preset", "fsat"), "fast"),
        (("--set", "epohcs=3"), "epochs"),
    ],
)
def test_a_name_that_is_nearly_right_is_suggested(rankae, data, tmp_path, arguments, meant):
    ended = rankae("train", data, "--model", tmp_path / "m", *arguments)
    assert (ended.code, ended.err.count("\n")) == (2, 1)
    assert f"did you mean {meant!r}?" in ended.err


def test_what_a_terminal_cannot_show_is_replaced(tmp_path):
    (tmp_path / "rows.jsonl").write_text('{"text": "a", "labels": ["K\\u00e4se", "half \\ud83d"]}\n')
    for encoding in ("ascii", "utf-8"):
        command = [sys.executable, "-m", "rankae", "data", "info", str(tmp_path / "rows.jsonl")]
        ended = subprocess.run(command, capture_output=True, env=os.environ | {"PYTHONIOENCODING": encoding})
        assert (ended.returncode, ended.stderr) == (0, b"")
        assert b"half ? (1)" in ended.stdout
