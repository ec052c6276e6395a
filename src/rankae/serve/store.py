"""Decisions in SQLite: nothing is overwritten, and every acknowledged decision is on the disk.

A decision is one person's whole verdict on one text: the labels that were shown, accepted, rejected and added. Whoever
changes their mind adds another decision. `latest` gives the latest decision on each text, `conflicts` the texts on
which people disagree.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import sqlite3
import uuid
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rankae.errors import RankaeError

FILE = "decisions.sqlite"
_VERSION = 1
_TABLES = """
CREATE TABLE IF NOT EXISTS texts (hash TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS decisions (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    uid TEXT NOT NULL UNIQUE,
    at TEXT NOT NULL,
    by TEXT NOT NULL,
    model TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    document TEXT NOT NULL REFERENCES texts (hash),
    shown TEXT NOT NULL,
    accepted TEXT NOT NULL,
    rejected TEXT NOT NULL,
    added TEXT NOT NULL,
    done INTEGER NOT NULL,
    kind TEXT NOT NULL,
    about TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS decisions_of_document ON decisions (document, number);
CREATE TABLE IF NOT EXISTS uploads (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    at TEXT NOT NULL,
    by TEXT NOT NULL,
    kind TEXT NOT NULL,
    rows INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS upload_rows (
    upload INTEGER NOT NULL REFERENCES uploads (number) ON DELETE CASCADE,
    place INTEGER NOT NULL,
    document TEXT NOT NULL REFERENCES texts (hash),
    about TEXT NOT NULL,
    PRIMARY KEY (upload, place)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS uploads_of_document ON upload_rows (document);
"""
_FIELDS = (
    "number, uid, at, by, model, fingerprint, document, shown, accepted, rejected, added, done, about, "
    "(SELECT text FROM texts WHERE hash = document) AS text"
)
# Whether the latest decision on row r of upload u is "done". A text may have many flags, each with its own decisions.
_IS_DONE = (
    "COALESCE((SELECT d.done FROM decisions d WHERE d.document = r.document AND d.kind = u.kind AND (u.kind = 'texts' "
    "OR json_extract(d.about, '$.upload') = u.number AND json_extract(d.about, '$.place') = r.place) "
    "ORDER BY d.at DESC, d.number DESC LIMIT 1), 0)"
)
_LISTS = ("shown", "accepted", "rejected", "added")


@dataclass(frozen=True)
class Decision:
    """One person's verdict on one text.

    shown : label, probability and score of each tag that the person saw.
    done : whether the person has finished with the text; unfinished decisions are kept, but not used for training.
    about : further data of the text: the upload's columns, or the flag of an audit.
    """

    text: str
    accepted: list[str] = field(default_factory=list)
    rejected: list[str] = field(default_factory=list)
    added: list[str] = field(default_factory=list)
    by: str = ""
    model: str = ""
    fingerprint: str = ""
    shown: list[Any] = field(default_factory=list)
    done: bool = True
    about: dict[str, Any] = field(default_factory=dict)
    at: str = ""
    uid: str = ""
    number: int = 0

    @property
    def document(self) -> str:
        return document_hash(self.text)

    @property
    def labels(self) -> list[str]:
        """The labels of the text according to this person."""
        return list(dict.fromkeys([*self.accepted, *self.added]))

    @property
    def kind(self) -> str:
        """ "texts" for a verdict on all labels of a text, "flags" for one on a single flag of an audit."""
        return "flags" if "flag" in self.about else "texts"

    @property
    def is_empty(self) -> bool:
        """Whether the person has undone everything."""
        return not (self.accepted or self.rejected or self.added)


def document_hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class Store:
    """The database of a desk folder. Methods block; `later` runs one on the store's own thread."""

    def __init__(self, folder: Path, create: bool = True) -> None:
        self.path = folder / FILE
        if not create and not self.path.is_file():
            raise RankaeError(f"{folder} is not a desk folder: it has no {FILE}")
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RankaeError(f"decisions cannot be kept in {folder}: {error.strerror}") from None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="rankae-desk")
        try:
            self._thread.submit(self._open).result()
        except sqlite3.Error as error:
            raise RankaeError(f"{self.path} cannot be used: {error}") from None

    def _open(self) -> None:
        self._base = sqlite3.connect(self.path, timeout=30, isolation_level=None, check_same_thread=False)
        self._base.row_factory = sqlite3.Row
        self._base.execute("PRAGMA journal_mode = WAL")
        self._base.execute("PRAGMA synchronous = FULL")  # an acknowledged decision survives a power cut as well
        self._base.execute("PRAGMA foreign_keys = ON")
        version = self._base.execute("PRAGMA user_version").fetchone()[0]
        if version > _VERSION:
            raise sqlite3.DatabaseError("a newer rankae wrote it")
        with _transaction(self._base):
            for statement in _TABLES.split(";"):
                if statement.strip():
                    self._base.execute(statement)
            self._base.execute(f"PRAGMA user_version = {_VERSION}")

    def close(self) -> None:
        self._thread.shutdown()
        self._base.close()

    async def later(self, method: Any, *arguments: Any) -> Any:
        """Run method(*arguments) on the store's thread; returns when the result is on the disk."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, lambda: method(*arguments))

    # Decisions --------------------------------------------------------------------------------------------------

    def add(self, decisions: Sequence[Decision]) -> list[int]:
        """Store decisions and return their numbers. Decisions with a uid that is already stored get number 0."""
        with _transaction(self._base):
            return [self._add(decision) for decision in decisions]

    def _add(self, decision: Decision) -> int:
        document = self._keep_text(decision.text)
        lists = [json.dumps(getattr(decision, name), ensure_ascii=False) for name in _LISTS]
        cursor = self._base.execute(
            "INSERT OR IGNORE INTO decisions (uid, at, by, model, fingerprint, document, shown, accepted, rejected, "
            "added, done, kind, about) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                decision.uid or uuid.uuid4().hex,
                decision.at or now(),
                decision.by,
                decision.model,
                decision.fingerprint,
                document,
                *lists,
                int(decision.done),
                decision.kind,
                json.dumps(decision.about, ensure_ascii=False),
            ),
        )
        return int(cursor.lastrowid or 0) if cursor.rowcount else 0

    def _keep_text(self, text: str) -> str:
        document = document_hash(text)
        self._base.execute("INSERT OR IGNORE INTO texts VALUES (?, ?)", (document, text))
        return document

    def all(self) -> Iterator[Decision]:
        """All decisions, oldest first."""
        for row in self._base.execute(f"SELECT {_FIELDS} FROM decisions ORDER BY at, number"):
            yield _decision(row)

    def of_document(self, text: str) -> list[Decision]:
        """All decisions on one text, oldest first."""
        found = self._base.execute(
            f"SELECT {_FIELDS} FROM decisions WHERE document = ? ORDER BY at, number", (document_hash(text),)
        )
        return [_decision(row) for row in found]

    def latest(self, done: bool = True) -> Iterator[Decision]:
        """The latest decision on each text, by any person; with `done`, only for texts that somebody has finished."""
        for own in self.by_document():
            finished = [decision for decision in own if (decision.done or not done)]
            if finished and not finished[-1].is_empty:
                yield finished[-1]

    def by_document(self) -> Iterator[list[Decision]]:
        """All decisions grouped by text, oldest first, without those on flags of an audit."""
        own: list[Decision] = []
        found = self._base.execute(
            f"SELECT {_FIELDS} FROM decisions WHERE kind = 'texts' ORDER BY document, at, number"
        )
        for decision in map(_decision, found):
            if own and own[0].document != decision.document:
                yield own
                own = []
            own.append(decision)
        if own:
            yield own

    def conflicts(self) -> Iterator[list[Decision]]:
        """Texts on which people disagree, with the latest decision of each person, oldest first."""
        for own in self.by_document():
            last = {decision.by: decision for decision in own if decision.done and not decision.is_empty}
            verdicts = sorted(last.values(), key=lambda decision: (decision.at, decision.number))
            if len({(frozenset(v.labels), frozenset(v.rejected)) for v in verdicts}) > 1:
                yield verdicts

    # Uploads ----------------------------------------------------------------------------------------------------

    def upload(self, name: str, by: str, kind: str, rows: Iterator[tuple[str, dict[str, Any]]]) -> int:
        """Store the texts of a file, each with the other columns of its line; returns the upload's number."""
        with _transaction(self._base):
            cursor = self._base.execute("INSERT INTO uploads VALUES (NULL, ?, ?, ?, ?, 0)", (name, now(), by, kind))
            number, count = cursor.lastrowid, 0
            for text, about in rows:
                line = number, count, self._keep_text(text), json.dumps(about, ensure_ascii=False)
                self._base.execute("INSERT INTO upload_rows VALUES (?, ?, ?, ?)", line)
                count += 1
            self._base.execute("UPDATE uploads SET rows = ? WHERE number = ?", (count, number))
        return int(number or 0)

    def uploads(self) -> list[dict[str, Any]]:
        """Every upload with its number of finished texts, counted from the decisions, which are fewer than texts."""
        found = self._base.execute(
            "SELECT u.number, u.name, u.at, u.by, u.kind, u.rows, (SELECT COUNT(*) FROM (SELECT DISTINCT document FROM "
            "decisions) AS decided CROSS JOIN upload_rows r ON r.document = decided.document WHERE r.upload = u.number "
            f"AND {_IS_DONE}) AS done FROM uploads u ORDER BY u.number DESC"
        )
        return [dict(row) for row in found]

    def row(self, upload: int, place: int) -> dict[str, Any] | None:
        found = self._base.execute(
            "SELECT r.place, r.about, t.text, u.rows, u.kind FROM upload_rows r JOIN texts t ON t.hash = r.document "
            "JOIN uploads u ON u.number = r.upload WHERE r.upload = ? AND r.place = ?",
            (upload, place),
        ).fetchone()
        return None if found is None else dict(found) | {"about": json.loads(found["about"])}

    def has_upload(self, upload: int) -> bool:
        return self._base.execute("SELECT 1 FROM uploads WHERE number = ?", (upload,)).fetchone() is not None

    def next_open(self, upload: int, after: int) -> int | None:
        """The next row whose text nobody has finished, searched after this one and then from the start."""
        for side in (">", "<="):
            found = self._base.execute(
                "SELECT r.place FROM upload_rows r JOIN uploads u ON u.number = r.upload "
                f"WHERE r.upload = ? AND r.place {side} ? AND NOT {_IS_DONE} ORDER BY r.place LIMIT 1",
                (upload, after),
            ).fetchone()
            if found is not None:
                return int(found["place"])
        return None

    def drop_upload(self, upload: int) -> bool:
        """Delete an upload; the decisions on its texts stay."""
        return self._base.execute("DELETE FROM uploads WHERE number = ?", (upload,)).rowcount > 0


class _transaction:  # noqa: N801
    """A transaction: several statements that are committed together or not at all."""

    def __init__(self, base: sqlite3.Connection) -> None:
        self.base = base

    def __enter__(self) -> None:
        self.base.execute("BEGIN IMMEDIATE")

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self.base.execute("COMMIT" if kind is None else "ROLLBACK")


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")


def _decision(row: sqlite3.Row) -> Decision:
    lists = {name: json.loads(row[name]) for name in _LISTS}
    plain = {name: row[name] for name in ("text", "by", "model", "fingerprint", "at", "uid", "number")}
    return Decision(**plain, **lists, done=bool(row["done"]), about=json.loads(row["about"]))
