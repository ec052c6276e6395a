"""Where commands write: files of their own, never over what they read."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from rankae.errors import RankaeError


def check_outputs(outputs: Iterable[Path | None], *inputs: str) -> None:
    """Refuse, before any work, an output that is an input, a file of an input's folder, or named twice.

    inputs : what the command reads: files, folders, names of known data sets, or "-".
    """
    read = [place for given in inputs if (place := _place_of(given)) is not None]
    seen: set[Path] = set()
    for out in outputs:
        if out is None:
            continue
        where = out.resolve()
        if out.is_dir():
            raise RankaeError(f"{out} is a folder; give the name of a file in it")
        if any(where == place or where in _files_of(place) for place in read):
            raise RankaeError(f"{out} is the input itself, which would be lost; choose another file")
        if where in seen:
            raise RankaeError(f"{out} is named twice; give each of the outputs a file of its own")
        seen.add(where)


def _place_of(given: str) -> Path | None:
    """The file or folder that is meant; whoever reads it says what is wrong if there is none."""
    if given == "-":
        return None
    from rankae.data.sources import find_source

    place = find_source(given).resolve()
    return place if place.is_file() or place.is_dir() else None


def _files_of(place: Path) -> set[Path]:
    """What a data folder holds for commands to read; other files in it may be replaced."""
    if not place.is_dir():
        return set()
    from rankae.data.sources import splits_of

    kept = {*splits_of(place), "labels", "vocab"}
    return {path.resolve() for path in place.iterdir() if path.name.split(".")[0] in kept}
