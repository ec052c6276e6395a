"""Finds and reads the data that a user names: a folder with splits, a file, or a known name."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from rankae.data.dataset import Dataset
from rankae.data.formats import ENDINGS, format_of
from rankae.data.names import with_names
from rankae.data.opening import without_compression
from rankae.data.reading import ReadingSettings
from rankae.errors import DataError

_NUMBERED = re.compile(r"([a-z]+)[ ._-]*\(?\d[\d ()a-z._-]*")
SPLITS = {"train": ("train", "trn"), "dev": ("dev", "val", "valid", "validation"), "test": ("test", "tst")}


def load_dataset(
    source: str | Path,
    split: str = "train",
    format: str | None = None,
    *,
    reading: ReadingSettings | None = None,
    **options: Any,
) -> Dataset:
    """Read one split of a data set.

    Parameters
    ----------
    source : a folder with train.*, test.* and perhaps dev.*; a single file; or the name of a known data set.
    split : "train", "test" or "dev" of a folder; a single file is read for any of them.
    format : the file's format, if its name does not show it.
    reading : how a model's training data was read (`model.reading_`); a file that does not fit is refused.
    options : for the format's reader, over `reading`: text_column ("title,body" joins two), label_column,
        label_separator, delimiter, id_column and keep for CSV, JSONL and Parquet.
    """
    from rankae.data.split_files import find_split_files, load_split

    if not isinstance(source, str | os.PathLike):
        raise DataError(f"a file, a folder or a name is read, not {type(source).__name__}; give its columns to fit")
    place = find_source(source)
    if place.is_file():
        data = _read(place, format, reading, options)
        return replace(with_names(data, place.parent) if _is_split_name(place) else data, name=_short_name(place))
    if split_files := find_split_files(place):
        return replace(with_names(load_split(split_files, split, options), place), name=place.name)
    files = _files_by_split(place)
    if split not in files:
        raise DataError(f"{place}: there is no {split!r} split; {_what_there_is(place, files)}")
    return replace(with_names(_read(files[split], format, reading, options), place), name=place.name)


def file_of(source: str | Path, split: str) -> Path | None:
    """The one file that a split is in; None where it is in several, or not there."""
    from rankae.data.split_files import find_split_files

    place = find_source(source)
    if place.is_file():
        return place
    return None if find_split_files(place) else _files_by_split(place).get(split)


def splits_of(source: str | Path) -> list[str]:
    """Names of the splits that `load_dataset` finds, "train" first."""
    from rankae.data.split_files import find_split_files

    place = find_source(source)
    if place.is_file():
        return ["train"]
    return ["train", "test"] if find_split_files(place) else list(_files_by_split(place))


def find_source(source: str | Path) -> Path:
    """The folder or file meant by `source`: a path; or a name or relative path in RANKAE_DATA or the cache folder."""
    place = Path(source).expanduser()
    if place.exists():
        return place
    named = place.parent == Path(".")
    inside = not place.is_absolute() and ".." not in place.parts
    for folder in data_folders() if inside else []:
        for candidate in (folder / place, folder / str(place).lower()):
            if candidate.exists():
                return candidate
    if not named:
        raise DataError(f"{source}: there is no such file or folder")
    from rankae.data.known import find_known

    known = find_known(place.name)
    if known is not None:
        raise DataError(known.how_to_get())
    looked = " or ".join(str(folder) for folder in data_folders())
    raise DataError(f"{source}: there is no such file, folder or data set (looked in {looked}); see `rankae data list`")


def data_folders() -> list[Path]:
    """Where named data sets live: RANKAE_DATA if set, then the user's cache folder."""
    folder = os.environ.get("RANKAE_DATA")
    return [*([Path(folder)] if folder else []), cache_folder()]


def cache_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "rankae"


def _read(path: Path, format: str | None, reading: ReadingSettings | None, options: dict[str, Any]) -> Dataset:
    chosen = format_of(str(path), format, None if reading is None else reading.format)
    try:
        data = chosen.load().read(str(path), **chosen.options(path, reading, options))
    except TypeError as error:
        if "unexpected keyword" not in str(error):
            raise
        raise DataError(f"{path}: {chosen.name} has no option {str(error).rpartition(' ')[2]}") from None
    return data if data.reading is not None else replace(data, reading=ReadingSettings(format=chosen.name))


def _files_by_split(folder: Path) -> dict[str, Path]:
    """train.txt.xz, eurlex_train.txt, X.trn.npz: the file of each split."""
    by_split: dict[str, Path] = {}
    files = sorted(p for p in folder.iterdir() if p.is_file() and not p.name.startswith((".", "Y.")))
    for split in SPLITS:
        for path in files:
            if _split_of(path) != split:
                continue
            if split in by_split:
                raise DataError(f"{folder}: both {by_split[split].name} and {path.name} could be the {split} split")
            by_split[split] = path
    for path in files:
        part = _part_of(path)
        if part is not None and part in by_split:
            raise DataError(
                f"{folder}: {path.name} looks like a part of the {part} split, but only {by_split[part].name} would be "
                "read; join the two into one file, or move one away"
            )
    return by_split


def left_out(place: Path) -> list[str]:
    """Data files of a folder that belong to no split and are therefore not read."""
    from rankae.data.split_files import find_split_files

    if place.is_file() or find_split_files(place):
        return []
    read = {path.name for path in _files_by_split(place).values()} | {"labels.txt", "vocab.txt"}
    return sorted(path.name for path in _data_files(place) if path.name not in read)


def _data_files(folder: Path) -> list[Path]:
    files = (path for path in folder.iterdir() if path.is_file() and not path.name.startswith((".", "Y.", "README")))
    return [path for path in files if os.path.splitext(without_compression(path.name))[1].lower() in ENDINGS]


def _part_of(path: Path) -> str | None:
    """The split that train2.csv, test-00001.jsonl and "train (1).csv" look like a part of."""
    stem, ending = os.path.splitext(without_compression(path.name))
    match = _NUMBERED.fullmatch(stem.lower())
    if match is None or ending.lower() not in ENDINGS:
        return None
    return next((split for split, names in SPLITS.items() if match[1] in names), None)


def _what_there_is(folder: Path, files: dict[str, Path]) -> str:
    if files:
        return f"it has {', '.join(files)}"
    if others := sorted(path.name for path in _data_files(folder)):
        shown = ", ".join(others[:5])
        return f"it holds {shown}: give one of these files itself, or call it train{Path(others[0]).suffix}"
    return "it has no train.* or test.* in a known format"


def _split_of(path: Path) -> str | None:
    stem, ending = os.path.splitext(without_compression(path.name))
    if ending.lower() not in ENDINGS:
        return None
    last = re.split(r"[._-]", stem)[-1].lower()
    return next((split for split, names in SPLITS.items() if last in names), None)


def _is_split_name(path: Path) -> bool:
    return _split_of(path) is not None


def _short_name(path: Path) -> str:
    stem = os.path.splitext(without_compression(path.name))[0]
    return path.parent.name if stem in SPLITS else stem
