"""How a run ends that is stopped, or whose output goes nowhere: one sentence or none, never a traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")

# A command that stops at an interruption only after half a second, as one does that tidies up.
WAITING = """
import sys, time
from rankae.cli import entry

def wait(arguments):
    try:
        print("ready", flush=True)
        time.sleep(20)
    except KeyboardInterrupt:
        try:
            print("tidying", flush=True)
            time.sleep(float(sys.argv[1]))
        finally:
            print("tidied", flush=True)
        return entry.INTERRUPTED

entry.run = wait
entry.main()
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_request_to_end_is_like_ctrl_c(number):
    with subprocess.Popen([sys.executable, "-c", WAITING, "0"], stdout=-1, stderr=-1, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(number)
        out, told = process.communicate(timeout=20)
    assert (out, told, process.returncode) == ("tidying\ntidied\n", "", 130)


def test_a_second_ctrl_c_ends_at_once_with_one_sentence():
    with subprocess.Popen([sys.executable, "-c", WAITING, "30"], stdout=-1, stderr=-1, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "tidying\n"
        process.send_signal(signal.SIGINT)
        told = process.communicate(timeout=20)[1]
    assert process.returncode == 130
    assert told.count("\n") == 1
    assert "stopped at once" in told


@pytest.mark.parametrize("closing", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_closed_stream_is_no_crash(closing):
    command = f"{sys.executable} -m rankae --version {closing}"
    ran = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stderr) == (0, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_a_full_disk_behind_stdout_is_one_sentence():
    command = f"{sys.executable} -m rankae --version > /dev/full"
    ran = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60)
    assert ran.returncode == 2
    assert ran.stderr.count("\n") == 1
    assert "No space left on device" in ran.stderr


def test_a_lack_of_memory_in_torch_is_one_sentence(monkeypatch, capsys):
    from rankae.cli import entry

    def lacking(*_, **__):
        raise RuntimeError("[enforce fail at alloc_cpu.cpp:121] . DefaultCPUAllocator: can't allocate memory")

    monkeypatch.setattr(entry.typer.main, "get_command", lambda app: lacking)
    assert entry.run(["demo"]) == 2
    assert capsys.readouterr().err == f"rankae: {entry.NO_MEMORY}\n"
