"""Put a folder in place of another so that a crash leaves the old one or the new one, whole.

The new folder is written beside its place, under a hidden name, and synced. If there is an old one, it is renamed to
`.NAME.old`, the new one takes its name, and the old one is deleted. A crash between the two renames leaves no folder of
that name but an old one beside it: `find_folder` then gives that one, so a reader never notices.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(place: Path) -> Iterator[Path]:
    """A new folder to write into, which becomes `place` if the block ends well and disappears if it does not."""
    place = Path(os.path.abspath(place))  # without following links: a link to a model is replaced, its target is not
    place.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix=f".{place.name}.writing-", dir=place.parent))
    try:
        fresh.chmod(0o777 & ~_umask())  # mkdtemp gives a folder that only its owner may read
        yield fresh
        for path in fresh.iterdir():
            path.chmod(0o666 & ~_umask())  # safetensors makes files that only their owner may read
            _sync(path)
        _sync(fresh)
        _swap(fresh, place)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def find_folder(place: Path) -> Path:
    """`place`, or the old folder that a crash in the middle of replacing it left beside it."""
    old = _old(Path(os.path.abspath(place)))
    return old if old.is_dir() and not place.exists() else place


def _swap(fresh: Path, place: Path) -> None:
    old = _old(place)
    if os.path.lexists(place):
        _remove(old)
        place.rename(old)
    try:
        fresh.rename(place)
    except OSError:
        if old.exists():
            old.rename(place)
        raise
    _sync(place.parent)
    _remove(old)


def _old(place: Path) -> Path:
    return place.with_name(f".{place.name}.old")


def _remove(path: Path) -> None:
    if path.is_symlink():
        path.unlink()
    elif path.exists():
        shutil.rmtree(path)


def _sync(path: Path) -> None:
    """Have the disk hold what was written. Windows cannot open folders, but its file system journals renames."""
    if os.name != "posix" and path.is_dir():
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
