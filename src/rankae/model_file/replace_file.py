"""Replaces a file atomically: a crash, a full disk or Ctrl-C leaves either the old file or the new one."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing_file(path: Path) -> Iterator[Path]:
    """The path of a temporary file beside `path`, which replaces it when the block has succeeded."""
    path.parent.mkdir(parents=True, exist_ok=True)
    number, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    os.close(number)
    beside = Path(name)
    try:
        yield beside
        allow_others_to_read(beside)
        sync(beside)
        os.replace(beside, path)
        sync(path.parent)
    finally:
        beside.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    with replacing_file(path) as beside:
        beside.write_text(text, encoding="utf-8")


def allow_others_to_read(path: Path) -> None:
    """Set the mode that new files and folders have; temporary ones can only be read by their owner."""
    mask = os.umask(0)
    os.umask(mask)
    path.chmod((0o777 if path.is_dir() else 0o666) & ~mask)


def sync(path: Path) -> None:
    """Flush to disk. Windows cannot open folders, but its file system journals renames."""
    if os.name != "posix" and path.is_dir():
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
