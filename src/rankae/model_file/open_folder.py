"""A folder held open: every file that is read through it belongs to one and the same model.

Saving puts a new folder in the place of the old one. A reader that went by path could take the labels of one model and
the arrays of the other; one that holds the folder open reads on in the old one, or finds a file gone and starts again.
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
            now = path.stat()
        except FileNotFoundError:
            return True
        own = os.fstat(self._number)
        return (now.st_dev, now.st_ino) != (own.st_dev, own.st_ino)
