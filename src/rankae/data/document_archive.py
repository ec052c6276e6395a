"""An archive with a JSON file for each document, as EURLEX57K is published, made into JSON lines of its splits."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from rankae.data.opening import MOST_BYTES, MOST_RATIO
from rankae.data.sources import SPLITS
from rankae.data.writing import written
from rankae.errors import DataError
from rankae.progress import track

_PARTS = ("title", "header", "recitals", "main_body")  # of a document, in their order; a title is a line of its own
_MOST_DOCUMENT = 64 << 20


def unpack_documents(archive: Path, folder: Path) -> None:
    """Write a file of JSON lines for each split of `archive` into a new `folder`, all or nothing."""
    beside = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        with zipfile.ZipFile(archive) as opened:
            members = _by_split(archive, opened)
            for split, own in members.items():
                with written(beside / f"{split}.jsonl") as stream:
                    for member in track(own, f"reading {split}"):
                        stream.write(json.dumps(_row(opened, member), ensure_ascii=False).encode() + b"\n")
        os.chmod(beside, 0o755)
        os.replace(beside, folder)
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError) as error:
        raise DataError(f"{archive}: the archive is damaged ({error})") from None
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _by_split(archive: Path, opened: zipfile.ZipFile) -> dict[str, list[zipfile.ZipInfo]]:
    """Members called .../train/NAME.json, by split; names in order, so that the same archive gives the same rows."""
    found: dict[str, list[zipfile.ZipInfo]] = {}
    for member in sorted(opened.infolist(), key=lambda member: member.filename):
        path = PurePosixPath(member.filename.replace("\\", "/"))
        split = next((name for name in SPLITS if path.parent.name == name), None)
        if split and path.suffix == ".json" and not path.name.startswith(".") and "__MACOSX" not in path.parts:
            found.setdefault(split, []).append(member)
    if "train" not in found:
        raise DataError(f"{archive}: there are no documents in the archive")
    unpacked = sum(member.file_size for own in found.values() for member in own)
    if unpacked > min(MOST_BYTES, archive.stat().st_size * MOST_RATIO):
        raise DataError(f"{archive}: unpacks to {unpacked:,} bytes, which looks like a decompression bomb")
    return found


def _row(opened: zipfile.ZipFile, member: zipfile.ZipInfo) -> dict[str, Any]:
    where = member.filename
    try:
        with opened.open(member) as stream:
            document = json.loads(stream.read(_MOST_DOCUMENT))
        texts = [line for part in _PARTS for line in _lines(document.get(part))]
        labels = [str(label) for label in document["concepts"]]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise DataError(f"{where}: this is no document with concepts ({type(error).__name__})") from None
    return {"id": document.get("celex_id"), "text": "\n".join(texts), "labels": labels}


def _lines(part: Any) -> Iterator[str]:
    for piece in part if isinstance(part, list) else [part]:
        if isinstance(piece, str) and piece.strip():
            yield piece.strip()
