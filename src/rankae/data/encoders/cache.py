"""A cache of encoded texts on disk, keyed by the hash of the text, so that a text is encoded once.

There is one file per encoder, with records of fixed size: hash of the text, vector, and checksum. New records are
appended, so that a killed process loses little; truncated or damaged records are ignored.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path

import numpy as np

from rankae.data.sources import cache_folder

_KEY = "V16"  # bytes


class VectorCache:
    def __init__(self, digest: str, size: int, folder: Path | None = None) -> None:
        folder = cache_folder() / "encoded" if folder is None else folder
        self.path = folder / f"{digest}.vectors"
        self.record = np.dtype([("key", _KEY), ("vector", "<f4", (size,)), ("check", "<u4")])

    def get(self, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Vectors of the keys (zeros if missing), and the indices of the missing keys."""
        records = self._records()
        vectors = np.zeros((len(keys), *self.record["vector"].shape), dtype=np.float32)
        place = _places(records["key"], keys)
        known = np.flatnonzero(place >= 0)
        for i in known.tolist():
            record = records[place[i]]
            if _check_sum(record["key"], record["vector"]) == record["check"]:
                vectors[i] = record["vector"]
            else:
                place[i] = -1
        return vectors, np.flatnonzero(place < 0)

    def missing(self, keys: np.ndarray) -> np.ndarray:
        """Indices of the keys without a record."""
        return np.flatnonzero(_places(self._records()["key"], keys) < 0)

    def add(self, keys: np.ndarray, vectors: np.ndarray) -> None:
        records = np.empty(len(keys), dtype=self.record)
        records["key"], records["vector"] = keys, vectors
        records["check"] = [
            _check_sum(key, vector) for key, vector in zip(records["key"], records["vector"], strict=True)
        ]
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with open(self.path, "ab") as file:
            _alone(file)
            over = os.fstat(file.fileno()).st_size % self.record.itemsize
            if over:  # of a record that was cut off
                file.write(b"\0" * (self.record.itemsize - over))
            file.write(records.tobytes())

    def _records(self) -> np.ndarray:
        try:
            count = self.path.stat().st_size // self.record.itemsize
        except FileNotFoundError:
            count = 0
        return np.memmap(self.path, self.record, "r", shape=(count,)) if count else np.empty(0, dtype=self.record)


def text_keys(texts: Sequence[str]) -> np.ndarray:
    """A hash of each text."""
    digests = b"".join(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest() for text in texts)
    return np.frombuffer(digests, dtype=_KEY)


def _places(known: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """The (last) index of each key in `known`, -1 if it is missing."""
    place = {key: i for i, key in enumerate(known.tolist())}
    return np.fromiter((place.get(key, -1) for key in keys.tolist()), np.int64, len(keys))


def _check_sum(key: np.void, vector: np.ndarray) -> int:
    return zlib.crc32(vector.tobytes(), zlib.crc32(key.tobytes()))


def _alone(file) -> None:  # type: ignore[no-untyped-def]
    """Wait until no other process writes. Without locks, damaged records are possible and are encoded again."""
    try:
        import fcntl
    except ImportError:
        return
    fcntl.flock(file, fcntl.LOCK_EX)
