"""Opening data files: plain, gz, xz or zst, from disk or standard input, with a limit on what they unpack to."""

from __future__ import annotations

import io
import os
import stat
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

from rankae.errors import DataError, MissingExtra

COMPRESSIONS = (".gz", ".xz", ".zst")
_MAGIC = {b"\x1f\x8b": ".gz", b"\xfd7zXZ\x00": ".xz", b"\x28\xb5\x2f\xfd": ".zst"}

# A file may unpack to this many bytes, and to this many times its own size once past the first few.
# Real data seldom packs better than 30 : 1; a gzip bomb reaches 1,000 : 1.
MOST_BYTES = 64 << 30
MOST_RATIO = 100
FREE_BYTES = 16 << 20  # rows of a few bytes each take a hundred times as much in memory as in a file
# A longer line is damage, or a bomb without line ends.
MOST_LINE = 256 << 20
BLOCK = 1 << 20
PIPE_BLOCK = 1 << 16  # what a pipe holds


def without_compression(name: str) -> str:
    """`train.txt.gz` -> `train.txt`."""
    stem, ending = os.path.splitext(name)
    return stem if ending.lower() in COMPRESSIONS else name


@dataclass(frozen=True)
class OpenStream:
    """A stream that is open already, such as a pipe whose first line was looked at; it prints as its name."""

    stream: io.BufferedReader
    name: str

    def __str__(self) -> str:
        return self.name


Source = str | OpenStream


class AsItComes(io.RawIOBase):
    """A pipe that hands on what has come, and can tell whether more has come already."""

    def __init__(self, raw: BinaryIO | io.RawIOBase) -> None:
        self.raw = raw
        self.only_what_is_there = False

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self.raw.fileno()

    def readinto(self, buffer: memoryview) -> int | None:  # type: ignore[override]
        if self.only_what_is_there and not self.has_more():
            return None
        return self.raw.readinto(buffer)  # type: ignore[union-attr]

    def has_more(self) -> bool:
        """Whether a read would answer at once, with bytes or the end; so it is said too where nobody can tell."""
        import select

        try:
            return bool(select.select([self.raw.fileno()], [], [], 0)[0])
        except (OSError, ValueError):  # no file behind it, or a system that can only ask sockets
            return True

    def close(self) -> None:
        if not self.closed:
            self.raw.close()
        super().close()


def has_line(source: Source) -> bool:
    """Whether another line can be had without waiting for whoever writes it; True for all that is no pipe."""
    pipe = getattr(source.stream, "raw", None) if isinstance(source, OpenStream) else None
    if not isinstance(pipe, AsItComes):
        return True
    assert isinstance(source, OpenStream)
    pipe.only_what_is_there = True
    try:
        return b"\n" in source.stream.peek(1) or pipe.has_more()
    finally:
        pipe.only_what_is_there = False


def is_pipe(path: str | Path) -> bool:
    """Whether rows come from another process, so that the file can be read but once, and waits."""
    try:
        return stat.S_ISFIFO(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def open_data(path: Source | Path) -> io.BufferedReader:
    """Open `path` ("-" is standard input) for predicted unpacked bytes; what it holds decides, not its name."""
    if isinstance(path, OpenStream):
        return path.stream
    if str(path) == "-":
        raw = getattr(sys.stdin.buffer, "raw", sys.stdin.buffer)  # beneath the buffer that would wait until it is full
        return _unpacked(io.BufferedReader(AsItComes(raw), PIPE_BLOCK), "standard input", None)
    path = Path(path)
    if path.is_dir():
        raise DataError(f"{path}: is a folder, where a file is expected; give the file in it")
    try:
        packed: io.BufferedReader = path.open("rb")
        if is_pipe(path):
            packed = io.BufferedReader(AsItComes(packed.detach()), PIPE_BLOCK)
        size = os.fstat(packed.fileno()).st_size
        empty = path.is_file() and not packed.peek(1)
    except FileNotFoundError:
        raise DataError(f"{path}: there is no such file") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from None
    if empty:
        packed.close()
        raise DataError(f"{path}: the file is empty")
    return _unpacked(packed, str(path), size if path.is_file() else None)


def _unpacked(packed: io.BufferedReader, where: str, size: int | None) -> io.BufferedReader:
    head = packed.peek(6)[:6]
    compression = next((ending for magic, ending in _MAGIC.items() if head.startswith(magic)), None)
    if compression is None:
        return packed
    if compression == ".gz":
        import gzip

        inner: BinaryIO = cast(BinaryIO, gzip.GzipFile(fileobj=packed))
    elif compression == ".xz":
        import lzma

        inner = cast(BinaryIO, lzma.LZMAFile(packed))  # noqa: SIM115  (closed by _Limited)
    else:
        try:
            import zstandard
        except ImportError:
            raise MissingExtra(f"{where}: zst", "zstd") from None
        inner = cast(BinaryIO, zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True))
    return io.BufferedReader(_Limited(inner, packed, where, size), BLOCK)


class _Limited(io.RawIOBase):
    """An unpacking stream that stops at the limit and turns damage into one sentence."""

    def __init__(self, inner: BinaryIO, packed: BinaryIO, where: str, size: int | None) -> None:
        self.inner = inner
        self.packed = packed
        self.where = where
        self.taken = 0
        self.limit = MOST_BYTES if size is None else min(MOST_BYTES, max(FREE_BYTES, size * MOST_RATIO))

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        try:
            block = self.inner.read(len(buffer))
        except Exception as error:  # gzip, lzma, zlib and zstandard each have their own kinds
            if isinstance(error, MemoryError):
                raise
            raise DataError(f"{self.where}: the compressed file is damaged or cut short ({error})") from None
        self.taken += len(block)
        if self.taken > self.limit:
            raise DataError(
                f"{self.where}: unpacks to more than {self.limit >> 20:,} MiB, which looks like a decompression bomb; "
                "unpack it yourself if you trust it"
            )
        buffer[: len(block)] = block
        return len(block)

    def close(self) -> None:
        if not self.closed:
            self.inner.close()
            self.packed.close()
        super().close()


def chunks_of_lines(stream: BinaryIO, where: Source, size: int) -> Iterator[bytes]:
    """Whole lines in chunks of about `size` bytes; a byte order mark at the start is dropped."""
    rest, first = b"", True
    read = getattr(stream, "read1", stream.read)  # a pipe hands on what has come
    while block := read(size):
        if first:
            block, first = block.removeprefix(b"\xef\xbb\xbf"), False
        end = block.rfind(b"\n") + 1
        if end:
            yield rest + block[:end]
            rest = block[end:]
        else:
            rest += block
            if len(rest) > MOST_LINE:
                raise DataError(f"{where}: a line is longer than {MOST_LINE >> 20} MiB")
    if rest:
        yield rest


def first_line(source: OpenStream) -> bytes:
    """The first line, or what of it is buffered, without taking it from the stream."""
    return source.stream.peek(1).partition(b"\n")[0]


def text_lines(stream: BinaryIO, where: Source, encoding: str | None = None) -> Iterator[tuple[int, str]]:
    """(line number, text without its line end) for every line; broken UTF-8 is an error with its place.

    encoding : of the file; None for UTF-8, or UTF-16 where the file begins with its mark.
    """
    peek = getattr(stream, "peek", None)
    if encoding is None and peek is not None and peek(2)[:2] in (b"\xff\xfe", b"\xfe\xff"):
        encoding = "utf-16"
    if encoding is not None:
        yield from _decoded_lines(stream, where, encoding)
        return
    for number, line in enumerate(iter(lambda: stream.readline(MOST_LINE), b""), 1):
        if len(line) == MOST_LINE:
            raise DataError(f"{where}, line {number}: the line is longer than {MOST_LINE >> 20} MiB")
        if number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        try:
            yield number, line.rstrip(b"\r\n").decode()
        except UnicodeDecodeError as error:
            raise DataError(
                f"{where}, line {number}: not valid UTF-8 at byte {error.start + 1}; {_OTHER_ENCODING}"
            ) from None


def _decoded_lines(stream: BinaryIO, where: Source, encoding: str) -> Iterator[tuple[int, str]]:
    decoded = io.TextIOWrapper(cast(Any, stream), encoding=encoding, newline="\n")
    number = 0
    try:
        while line := decoded.readline(MOST_LINE):
            number += 1
            if len(line) == MOST_LINE:
                raise DataError(f"{where}, line {number}: the line is longer than {MOST_LINE >> 20} MiB")
            yield number, line.rstrip("\r\n").removeprefix("\ufeff" if number == 1 else "")
    except UnicodeError as error:
        raise DataError(f"{where}, near line {number + 1}: not valid {encoding} ({error})") from None
    finally:
        decoded.detach()  # whoever opened the stream closes it


_OTHER_ENCODING = (
    "save it as UTF-8 (in Excel: CSV UTF-8), or, if it is Windows' own, give --encoding windows-1252 for CSV and JSONL"
)
