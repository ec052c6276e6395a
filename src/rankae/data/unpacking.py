"""Unpacks a zip archive into a new folder, all or nothing, and refuses damaged archives and decompression bombs."""

from __future__ import annotations

import os
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rankae.data.opening import MOST_BYTES, MOST_RATIO
from rankae.errors import DataError


@contextmanager
def unpacking(archive: Path, folder: Path) -> Iterator[tuple[zipfile.ZipFile, Path]]:
    """The opened archive and a temporary folder, which becomes `folder` if the block succeeds."""
    beside = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        with zipfile.ZipFile(archive) as opened:
            yield opened, beside
        os.chmod(beside, 0o755)
        os.replace(beside, folder)
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError) as error:
        raise DataError(f"{archive}: the archive is damaged ({error})") from None
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def refuse_bomb(archive: Path, members: Iterable[zipfile.ZipInfo]) -> None:
    """Refuse members whose unpacked size is out of proportion to the archive."""
    unpacked = sum(member.file_size for member in members)
    if unpacked > min(MOST_BYTES, archive.stat().st_size * MOST_RATIO):
        raise DataError(f"{archive}: unpacks to {unpacked:,} bytes, which looks like a decompression bomb")
