"""Converts an archive with a JSON file per document, as EURLEX57K is published, to JSON lines."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from rankae.data.sources import SPLITS
from rankae.data.unpacking import refuse_bomb, unpacking
from rankae.data.writing import written
from rankae.errors import DataError
from rankae.progress import track

_PARTS = ("title", "header", "recitals", "main_body")  # of a document, in their order; a title is a line of its own
_MOST_DOCUMENT = 64 << 20


def unpack_documents(archive: Path, folder: Path) -> None:
    """Write a file of JSON lines for each split of `archive` into a new `folder`, all or nothing."""
    with unpacking(archive, folder) as (opened, beside):
        for split, members in _by_split(archive, opened).items():
            with written(beside / f"{split}.jsonl") as stream:
                for member in track(members, f"reading {split}"):
                    stream.write(json.dumps(_row(opened, member), ensure_ascii=False).encode() + b"\n")


def _by_split(archive: Path, opened: zipfile.ZipFile) -> dict[str, list[zipfile.ZipInfo]]:
    """Members called .../train/NAME.json, by split, in the order of their names."""
    members_of: dict[str, list[zipfile.ZipInfo]] = {}
    for member in sorted(opened.infolist(), key=lambda member: member.filename):
        path = PurePosixPath(member.filename.replace("\\", "/"))
        split = next((name for name in SPLITS if path.parent.name == name), None)
        if split and path.suffix == ".json" and not path.name.startswith(".") and "__MACOSX" not in path.parts:
            members_of.setdefault(split, []).append(member)
    if "train" not in members_of:
        raise DataError(f"{archive}: there are no documents in the archive")
    refuse_bomb(archive, (member for members in members_of.values() for member in members))
    return members_of


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
