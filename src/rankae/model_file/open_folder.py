"""A folder that is held open, so that all files read through it belong to the same model.

Saving replaces the folder. A reader that opened files by path could get the labels of one model and the arrays of the
other. With the folder held open it keeps reading the old model, or finds a file missing and starts again.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

_BY_FOLDER = os.open in os.supports_dir_fd  # not on Windows, which keeps a folder from being renamed while it is read


class OpenFolder:
    """
    Parameters
    ----------
    path : of the folder; a link to one is followed, links in it are not.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._number = os.open(path, os.O_RDONLY | os.O_DIRECTORY) if _BY_FOLDER else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._number is not None:
            os.close(self._number)

    def open(self, name: str) -> BinaryIO:
        """A plain file of the folder; ValueError for a link, a folder or a pipe."""
        if self._number is None:
            if not stat.S_ISREG((self.path / name).lstat().st_mode):
                raise ValueError(f"{name} is not a plain file")
            return open(self.path / name, "rb")
        try:
            number = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=self._number)
        except FileNotFoundError:
            raise
        except OSError as error:  # a link
            raise ValueError(f"{name} is not a plain file") from error
        file = os.fdopen(number, "rb") if stat.S_ISREG(os.fstat(number).st_mode) else None
        if file is None:
            os.close(number)
            raise ValueError(f"{name} is not a plain file")
        return file

    def is_replaced_by(self, path: Path) -> bool:
        """Whether another folder than this one is now at `path`, or none for the moment."""
        if self._number is None:
            return False
        try:
            current = path.stat()
        except FileNotFoundError:
            return True
        opened = os.fstat(self._number)
        return (current.st_dev, current.st_ino) != (opened.st_dev, opened.st_ino)
