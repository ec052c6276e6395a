"""Replaces a folder atomically: a crash leaves either the old or the new one, complete.

The new folder is written under a hidden name beside the target, and synced. An old folder is renamed to `.NAME.old`,
the new one takes its name, and the old one is deleted. After a crash between the two renames, `find_folder` returns the
`.NAME.old` folder, so that readers still find the model.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rankae.model_file.lock import try_to_lock
from rankae.model_file.replace_file import allow_others_to_read, sync

_SECONDS_TO_START = 60  # a folder without a writer that is younger may belong to one that has not locked it yet


@contextmanager
def replacing(place: Path) -> Iterator[Path]:
    """A new folder to write into, which becomes `place` if the block succeeds and is removed otherwise."""
    place = Path(os.path.abspath(place))  # without following links: a link to a model is replaced, its target is not
    place.parent.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(place)
    fresh = Path(tempfile.mkdtemp(prefix=_unfinished(place), dir=place.parent))
    lock = os.open(fresh, os.O_RDONLY) if os.name == "posix" else None
    try:
        if lock is not None:
            try_to_lock(lock)
        allow_others_to_read(fresh)
        yield fresh
        for path in fresh.iterdir():
            allow_others_to_read(path)
            sync(path)
        sync(fresh)
        _swap(fresh, place)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def find_folder(place: Path) -> Path:
    """`place`, or the old folder that a crash during replacement left beside it."""
    old = _old(Path(os.path.abspath(place)))
    return old if old.is_dir() and not place.exists() else place


def _unfinished(place: Path) -> str:
    return f".{place.name}.writing-"


def _remove_abandoned(place: Path) -> None:
    """Remove the folders of killed writers; a running writer holds a lock on its folder."""
    if os.name != "posix":
        return
    for folder in place.parent.iterdir():
        if not folder.name.startswith(_unfinished(place)) or folder.is_symlink() or not folder.is_dir():
            continue
        try:
            number = os.open(folder, os.O_RDONLY)
        except OSError:  # gone, or not ours
            continue
        try:
            if time.time() - os.fstat(number).st_mtime > _SECONDS_TO_START and try_to_lock(number):
                shutil.rmtree(folder, ignore_errors=True)
        finally:
            os.close(number)


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
    sync(place.parent)
    _remove(old)


def _old(place: Path) -> Path:
    return place.with_name(f".{place.name}.old")


def _remove(path: Path) -> None:
    if path.is_symlink():
        path.unlink()
    elif path.exists():
        shutil.rmtree(path)
