"""Files uploaded to the desk: texts to tag, or the flags of `rankae audit` to review."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rankae.data import iter_batches
from rankae.errors import RankaeError
from rankae.serve.problems import Refused

_ENDINGS = (".txt", ".csv", ".tsv", ".xlsx", ".jsonl", ".json", ".ndjson")
_MOST_ROWS = 200_000
_MOST_CHARACTERS = 1_000_000
FLAG = ("kind", "label", "probability")  # fields of every line of an audit


def read_upload(
    name: str, content: bytes, text_column: str | None = None
) -> tuple[str, Iterator[tuple[str, dict[str, Any]]]]:
    """The upload's kind, "texts" or "flags", and its rows: each a text and the other columns of its line."""
    ending = Path(name).suffix.lower()
    if ending not in _ENDINGS:
        raise Refused(415, f"files are read by their ending, which must be one of {', '.join(_ENDINGS)}")
    rows = _flags(content) if ending in (".jsonl", ".json", ".ndjson") else None
    kind = "texts" if rows is None else "flags"
    rows = _texts(ending, content, text_column) if rows is None else rows
    if not rows:
        raise Refused(422, "the file holds no rows")
    return kind, ((_whole(text), json.loads(_whole(json.dumps(about, ensure_ascii=False)))) for text, about in rows)


def mistake_in(path: Path, error: RankaeError) -> Refused:
    """A mistake in a file that was sent, without the place where it lies, and in the words of the API."""
    sentence = str(error).replace(str(path), "the file")
    return Refused(422, sentence.replace("--text-column (text_column in Python)", "text_column"))


def _whole(text: str) -> str:
    """Without halves of characters, which JSON can write and nothing else can hold."""
    return text.encode("utf-8", "replace").decode()


def _texts(ending: str, content: bytes, text_column: str | None) -> list[tuple[str, dict[str, Any]]]:
    with tempfile.TemporaryDirectory(prefix="rankae-upload-") as folder:
        path = Path(folder) / f"upload{ending}"
        path.write_bytes(content)
        found: list[tuple[str, dict[str, Any]]] = []
        try:
            format = "lines" if ending == ".txt" else None
            for batch in iter_batches(path, format=format, labels=False, text_column=text_column):
                if batch.texts is None:
                    raise Refused(422, "the file holds features, not texts")
                for i, text in enumerate(batch.texts):
                    found.append((_checked(text, len(found)), {key: cells[i] for key, cells in batch.carried.items()}))
        except RankaeError as error:
            raise mistake_in(path, error) from None
    return found


def _flags(content: bytes) -> list[tuple[str, dict[str, Any]]] | None:
    """The rows of an audit file, or None if the lines are not flags."""
    found = []
    for number, line in enumerate(content.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            flag = json.loads(line)
        except (ValueError, RecursionError):
            return None
        if not isinstance(flag, dict) or not all(name in flag for name in FLAG):
            return None
        text = flag.pop("text", None)
        if not isinstance(text, str):  # of a feature matrix
            text = f"row {flag.get('row')}: {' '.join(map(str, flag.get('words') or ()))}"
        found.append((_checked(text, number), flag))
    return found


def _checked(text: str, row: int) -> str:
    if len(text) > _MOST_CHARACTERS:
        raise Refused(413, f"row {row}: the text is longer than {_MOST_CHARACTERS:,} characters")
    if row > _MOST_ROWS:
        raise Refused(413, f"the file holds more than {_MOST_ROWS:,} rows; split it")
    return text
