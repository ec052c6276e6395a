"""Writes files atomically: a crash, a full disk or Ctrl-C leaves either the old file or the new one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from rankae.data.dataset import Dataset
from rankae.data.formats import FORMATS, format_of_name
from rankae.errors import DataError, MissingExtra
from rankae.model_file.replace_file import replacing_file


def write_dataset(data: Dataset, path: str | Path, format: str | None = None) -> None:
    """Write `data` as XMC text, JSONL or npz, by the name's ending; .gz, .xz and .zst compress."""
    chosen = format_of_name(str(path), format)
    if not chosen.writes:
        can = ", ".join(f.endings[0] for f in FORMATS.values() if f.writes)
        raise DataError(f"{path}: {chosen.name} cannot be written; choose one of {can}")
    with written(path) as stream:
        chosen.load().write(data, stream)


def write_names(names: list[str], path: str | Path) -> None:
    """Write labels.txt or vocab.txt: a name a line."""
    for name in names:
        if not name or set(name) & set("\t\r\n"):
            raise DataError(f"{path}: the name {name!r} cannot stand on a line of its own")
    with written(path) as stream:
        stream.writelines(f"{name}\n".encode() for name in names)


@contextmanager
def written(path: str | Path) -> Iterator[BinaryIO]:
    """A stream into a temporary file, which replaces `path` when everything is written and synced.

    If `path` is a symbolic link, its target is replaced. Pipes and devices are written directly.
    """
    path = Path(path)
    try:
        if _is_pipe_or_device(path):
            with path.open("wb") as file, _compressed(file, path) as stream:
                yield stream
            return
        path = Path(os.path.realpath(path))
        with replacing_file(path) as beside, beside.open("wb") as file, _compressed(file, path) as stream:
            yield stream
    except OSError as error:
        raise DataError(f"{path}: cannot be written ({error.strerror or error}); nothing was changed") from None


@contextmanager
def _compressed(file: BinaryIO, path: Path) -> Iterator[BinaryIO]:
    ending = path.suffix.lower()
    if ending == ".gz":
        import gzip

        with gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0) as stream:  # no date: same data, same bytes
            yield cast(BinaryIO, stream)
    elif ending == ".xz":
        import lzma

        with lzma.LZMAFile(file, "wb") as stream:
            yield cast(BinaryIO, stream)
    elif ending == ".zst":
        try:
            import zstandard
        except ImportError:
            raise MissingExtra(f"{path}: zst", "zstd") from None
        with zstandard.ZstdCompressor().stream_writer(file, closefd=False) as stream:
            yield cast(BinaryIO, stream)
    else:
        yield file


def _is_pipe_or_device(path: Path) -> bool:
    """Whether `path` is a pipe or a device."""
    return path.exists() and not path.is_file() and not path.is_dir()
