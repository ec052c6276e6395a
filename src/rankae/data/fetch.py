"""`rankae data fetch`: downloads a known archive (resuming an interrupted download), checks its hash, and unpacks
it."""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import shutil
import urllib.error
import urllib.request
import zipfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from rankae.data.document_archive import unpack_documents
from rankae.data.formats import ENDINGS
from rankae.data.known import KNOWN, Known, find_known
from rankae.data.opening import without_compression
from rankae.data.sources import cache_folder
from rankae.data.unpacking import refuse_bomb, unpacking
from rankae.data.writing import written
from rankae.errors import DataError
from rankae.progress import bar

BLOCK = 1 << 20
PATIENCE_SECONDS = 30


@dataclass(frozen=True)
class Fetched:
    """Where the data is now, the archive's SHA-256, and whether a published hash confirmed it."""

    folder: Path
    sha256: str
    confirmed: bool


def fetch(name: str, to: str | Path | None = None) -> Fetched:
    """Download data set `name` into folder `to`/name (by default in the user's cache folder)."""
    known = find_known(name)
    if known is None:
        raise DataError(f"{name}: no such data set; known are {', '.join(KNOWN)}")
    if known.url is None:
        raise DataError(known.how_to_get())
    target = (Path(to) if to else cache_folder()) / known.name
    if target.exists():
        raise DataError(f"{target}: is there already; delete it first to fetch it again")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        archive = target.parent / f"{known.name}.zip.part"
        download(known.url, archive, known)
        sha256, confirmed = _checked(archive, known)
        (unpack_documents if known.documents else unpack)(archive, target)
    except OSError as error:
        raise DataError(f"{target}: cannot be written ({error.strerror or error})") from None
    with written(target / "SOURCE.json") as stream:
        facts = {"url": known.url, "home": known.home, "sha256": sha256, "confirmed": confirmed}
        stream.write(json.dumps(facts, indent=2).encode() + b"\n")
    archive.unlink()
    return Fetched(target, sha256, confirmed)


def download(url: str, path: Path, known: Known) -> None:
    """Download `url` to `path`, resuming an interrupted download."""
    have = path.stat().st_size if path.exists() else 0
    request = urllib.request.Request(url, headers={"User-Agent": "rankae", **_range(have)})
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as answer:
            resumed = have and answer.status == 206
            length = answer.headers.get("Content-Length")
            total = int(length) + (have if resumed else 0) if length and length.isdigit() else None
            with path.open("ab" if resumed else "wb") as out, bar(f"fetching {known.name}", total) as progress:
                progress.advance(have if resumed else 0)
                while block := answer.read(BLOCK):
                    out.write(block)
                    progress.advance(len(block))
            if total is not None and path.stat().st_size < total:
                raise DataError(f"{known.name}: the download broke off; run the same command again to go on with it")
    except urllib.error.HTTPError as error:
        if error.code == 416 and have:  # nothing is left to send: the file was complete already
            return
        raise DataError(f"{url}: the server answered {error.code} {error.reason}; see {known.home}") from None
    except (urllib.error.URLError, TimeoutError, ConnectionError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", error)
        raise DataError(
            f"{known.name} cannot be downloaded ({reason}): without a network, get it from {known.home} elsewhere "
            f"and unpack it into {path.parent / known.name}"
        ) from None


def _range(have: int) -> dict[str, str]:
    return {"Range": f"bytes={have}-"} if have else {}


def _checked(archive: Path, known: Known) -> tuple[str, bool]:
    """The archive's SHA-256, and whether a published hash confirms it; a wrong file is deleted."""
    kind, _, expected = (known.checksum or "").partition(":")
    hashes = {name: hashlib.new(name, usedforsecurity=False) for name in {"sha256", kind or "sha256"}}
    with archive.open("rb") as stream:
        while block := stream.read(BLOCK):
            for one in hashes.values():
                one.update(block)
    if expected and hashes[kind].hexdigest() != expected:
        archive.unlink()
        raise DataError(f"{known.name}: the download does not have the published {kind} and was deleted; try again")
    if not zipfile.is_zipfile(archive):
        archive.unlink()
        raise DataError(f"{known.name}: the server sent something else than the archive; get it from {known.home}")
    return hashes["sha256"].hexdigest(), bool(expected)


def unpack(archive: Path, folder: Path) -> None:
    """Unpack the data files of `archive` into a new `folder`, all or nothing.

    Only the last part of each member's name is used, so that no member can leave the folder. Members that are no data
    files are ignored.
    """
    with unpacking(archive, folder) as (opened, beside):
        members = [member for member in opened.infolist() if _is_data_file(member)]
        if not members:
            raise DataError(f"{archive}: there are no data files in the archive")
        refuse_bomb(archive, members)
        for member in members:
            place = beside / PurePosixPath(member.filename).name
            if place.exists():
                raise DataError(f"{archive}: two members are called {place.name}")
            with opened.open(member) as packed, place.open("wb") as out:
                shutil.copyfileobj(packed, out, BLOCK)


def _is_data_file(member: zipfile.ZipInfo) -> bool:
    name = PurePosixPath(member.filename.replace("\\", "/")).name
    ending = os.path.splitext(without_compression(name))[1].lower()
    return not member.is_dir() and not name.startswith(".") and ending in ENDINGS
