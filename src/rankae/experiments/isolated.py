"""Runs a cell in a process of its own, so that a crash, or lack of memory, ends only the cell.

`python -m rankae.experiments.isolated FOLDER` reads a cell from standard input and keeps its result in FOLDER.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time

from rankae.experiments.cells import Cell, Result, Store

INTERRUPTED = 130  # what shells report after Ctrl-C


def run_isolated(cell: Cell, store: Store, minutes: float | None = None) -> Result:
    """As `measure.run`, in another process, for at most `minutes`."""
    command = [sys.executable, "-m", "rankae.experiments.isolated", str(store.folder)]
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=errors)
        try:
            process.communicate(cell.to_json().encode(), timeout=None if minutes is None else 60 * minutes)
        except subprocess.TimeoutExpired:
            return _failed(cell, store, f"it took longer than {minutes:g} minutes")
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
        if process.returncode in (INTERRUPTED, -signal.SIGINT, -signal.SIGTERM):
            raise KeyboardInterrupt
        result = store.find(cell) if process.returncode == 0 else None
        if result is not None:
            return result
        errors.seek(0)
        lines = errors.read().decode(errors="replace").strip().splitlines()
    return _failed(cell, store, _why(process.returncode, lines))


def _why(code: int, lines: list[str]) -> str:
    if code == -getattr(signal, "SIGKILL", 9):
        return "it was killed by the system, most likely for want of memory"
    how = f"signal {-code}" if code < 0 else f"exit code {code}"
    return f"its process ended with {how}" + (f": {lines[-1]}" if lines else "")


def _failed(cell: Cell, store: Store, reason: str) -> Result:
    result = {"status": "failed", "reason": reason}
    store.keep(cell, result)
    return result


def end_with_parent(seconds: float = 1.0) -> None:
    """End this process when its parent is gone; a parent that is killed cannot end it."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(seconds)
        os._exit(INTERRUPTED)

    threading.Thread(target=watch, daemon=True).start()


def main() -> None:
    end_with_parent()
    from rankae.experiments.measure import run

    try:
        run(Cell.from_json(sys.stdin.read()), Store(sys.argv[1]), alone=True)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
