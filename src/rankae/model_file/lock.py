"""Locks between processes, held by the operating system, which releases them when the process ends."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rankae.errors import ModelFileError

try:
    import fcntl
except ImportError:  # Windows: a process that writes keeps others from renaming what it writes
    fcntl = None  # type: ignore[assignment]


def try_to_lock(number: int) -> bool:
    """Lock an open file or folder until it is closed; False if another process holds it."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


@contextmanager
def only_one(place: Path, what: str) -> Iterator[None]:
    """Hold `place`.lock while the block runs; a second process gets an error of one sentence."""
    path = place.with_name(f"{place.name}.lock")
    path.parent.mkdir(parents=True, exist_ok=True)
    number = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        if not try_to_lock(number):
            raise ModelFileError(f"another {what} is writing to {place}; wait for it, or choose another place")
        try:
            yield
        finally:
            path.unlink(missing_ok=True)
    finally:
        os.close(number)
