"""Writes and reads the model folder, which the package's docstring describes."""

from __future__ import annotations

import hashlib
import io
import json
import os
import platform
import re
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np

from rankae import __version__
from rankae.errors import ModelFileError
from rankae.model_file.open_folder import OpenFolder
from rankae.model_file.plain import from_json, names_from_json, names_to_json, to_json
from rankae.model_file.replace import find_folder, replacing
from rankae.model_file.tensors import map_arrays, write_arrays

FORMAT = "rankae-model"
FORMAT_VERSION = 1
MOST_JSON_BYTES = 2**24
MOST_TABLE_BYTES = 2**31
TRIES = 20  # attempts to read a model that is being replaced
MANIFEST, ARRAYS = "model.json", "model.safetensors"
LIBRARIES = ("numpy", "scipy", "scikit-learn", "torch", "numba", "safetensors")

# Names of files are taken from model.json, which may be forged: no folder separators, no hidden files.
FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")


@dataclass(frozen=True)
class ModelFile:
    """What a model folder holds; see `write_model` for the fields."""

    method: str
    settings: dict[str, Any]
    arrays: dict[str, np.ndarray]
    tables: dict[str, list[Any]]
    facts: dict[str, Any]


def write_model(
    path: str | Path,
    *,
    method: str,
    settings: dict[str, Any],
    arrays: dict[str, np.ndarray],
    tables: dict[str, Sequence[Any]],
    facts: dict[str, Any] | None = None,
) -> None:
    """Write a model folder, in place of the one at `path` if there is one.

    Parameters
    ----------
    method : name of the method in the registry, by which `rankae.load` finds the class.
    settings : JSON values and tuples; all that the method needs besides arrays and tables.
    arrays : numeric arrays by name.
    tables : lists of names (labels, words) by name; a name may be a string, number, boolean, None or a tuple of them.
    facts : what a reader may want to know but no method needs: metrics, data fingerprint, automatic choices.
    """
    place = Path(path)
    check_place(place)
    manifest = {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "method": method,
        "settings": to_json(settings, "settings"),
        "facts": to_json(facts or {}, "facts"),
        "libraries": _library_versions(),
        "arrays": ARRAYS,
        "tables": {name: f"{name}.json" for name in tables},
    }
    texts = {f"{name}.json": _table_text(name, names) for name, names in tables.items()}
    try:
        with replacing(place) as folder:
            for name, text in texts.items():
                (folder / name).write_bytes(text)
            write_arrays(folder / ARRAYS, arrays)
            manifest["files"] = {name: _fingerprint(folder / name) for name in sorted([*texts, ARRAYS])}
            (folder / MANIFEST).write_bytes(_manifest_text(manifest))
    except OSError as error:
        raise ModelFileError(f"the model cannot be written to {place}: {error.strerror or error}") from error


def read_model(path: str | Path, method: str | None = None, verify: bool = True) -> ModelFile:
    """Read a model folder; arrays are mapped, not copied. All files belong to one model, even if it is being replaced.

    Parameters
    ----------
    method : refuse a model of any other method.
    verify : check the SHA-256 of every file: a second for two gigabytes or so. Without it, damage to arrays goes
        unnoticed; sizes, names and JSON are checked all the same.
    """
    place = Path(path)
    for _ in range(TRIES):
        folder = find_folder(place)
        try:
            opened = OpenFolder(folder)
        except (FileNotFoundError, NotADirectoryError):
            if find_folder(place).is_dir():  # it was renamed in this very moment
                continue
            raise ModelFileError(f"{place} is not a model folder: it has no {MANIFEST}") from None
        with opened:
            try:
                return _read(opened, method, verify)
            except ModelFileError:
                if not opened.is_replaced_by(find_folder(place)):
                    raise
    raise ModelFileError(f"{place} was replaced {TRIES} times while it was read; try again")


def _read(opened: OpenFolder, method: str | None, verify: bool) -> ModelFile:
    folder = opened.path
    manifest = _read_manifest(opened)
    if method is not None and manifest["method"] != method:
        raise ModelFileError(
            f"{folder} holds a model of method {manifest['method']}, not {method} (in Python, rankae.load reads it)"
        )
    with ExitStack() as stack:
        files = {}
        for name, recorded in manifest["files"].items():
            files[name] = stack.enter_context(_checked(opened, name, recorded, verify))
        try:
            arrays = map_arrays(files[manifest["arrays"]])
            tables = {name: _read_table(files[file], file) for name, file in manifest["tables"].items()}
            settings, facts = from_json(manifest["settings"]), from_json(manifest["facts"])
        except (ValueError, TypeError, KeyError, OSError, RecursionError) as error:
            raise _damaged(folder, error) from error
    return ModelFile(manifest["method"], settings, arrays, tables, facts)


def read_manifest(path: str | Path) -> dict[str, Any]:
    """model.json of a folder, checked, without the arrays; `sha256` identifies the model."""
    try:
        with OpenFolder(find_folder(Path(path))) as opened:
            manifest = _read_manifest(opened)
    except (FileNotFoundError, NotADirectoryError):
        raise ModelFileError(f"{path} is not a model folder: it has no {MANIFEST}") from None
    return manifest | {"sha256": _digest(manifest), "facts": from_json(manifest["facts"])}


def check_place(path: str | Path) -> None:
    """Refuse a path to which no model can be written; called before hours of training.

    Only a model or an empty folder may be replaced.
    """
    place = Path(path)
    if place.exists() and not (place / MANIFEST).is_file() and (not place.is_dir() or any(place.iterdir())):
        raise ModelFileError(f"{place} exists and is not a model folder; choose another path for the model")
    above = next(folder for folder in Path(os.path.abspath(place)).parents if folder.exists())
    if not above.is_dir() or not os.access(above, os.W_OK | os.X_OK):
        raise ModelFileError(f"the model cannot be written to {place}: {above} is not a folder that you may write to")


def _table_text(table: str, names: Sequence[Any]) -> bytes:
    if not FILE_NAME.fullmatch(f"{table}.json") or f"{table}.json" == MANIFEST:
        raise ModelFileError(f"a table cannot be called {table!r}; use letters, digits and underscores")
    text = json.dumps(names_to_json(names, table), separators=(",\n", ":"), allow_nan=False).encode()
    if len(text) > MOST_TABLE_BYTES:
        raise ModelFileError(f"the table {table} is larger than {MOST_TABLE_BYTES} bytes")
    return text


def _read_table(file: BinaryIO, name: str) -> list[Any]:
    if os.fstat(file.fileno()).st_size > MOST_TABLE_BYTES:
        raise ValueError(f"{name} is larger than {MOST_TABLE_BYTES} bytes")
    file.seek(0)
    names = json.loads(file.read())
    if not isinstance(names, list):
        raise ValueError(f"{name} is not a list")
    return names_from_json(names)


def _manifest_text(manifest: dict[str, Any]) -> bytes:
    text = json.dumps(manifest | {"sha256": _digest(manifest)}, indent=1, allow_nan=False).encode() + b"\n"
    if len(text) > MOST_JSON_BYTES:
        raise ModelFileError(f"settings and facts of the model are larger than {MOST_JSON_BYTES} bytes")
    return text


def _read_manifest(opened: OpenFolder) -> dict[str, Any]:
    folder = opened.path
    try:
        with opened.open(MANIFEST) as file:
            text = file.read(MOST_JSON_BYTES + 1)
        if len(text) > MOST_JSON_BYTES:
            raise ValueError(f"{MANIFEST} is larger than {MOST_JSON_BYTES} bytes")
        manifest = json.loads(text)
        if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
            raise ModelFileError(f"{folder} is not a rankae model: its {MANIFEST} was written by something else")
        if not isinstance(manifest["version"], int) or manifest["version"] > FORMAT_VERSION:
            raise ModelFileError(
                f"{folder} has model format {manifest['version']}, but this version reads up to {FORMAT_VERSION}: "
                "install a newer rankae"
            )
        if manifest.pop("sha256") != _digest(manifest):
            raise ValueError(f"{MANIFEST} does not match its own SHA-256")
        _check_names(manifest)
    except FileNotFoundError:
        raise ModelFileError(f"{folder} is not a model folder: it has no {MANIFEST}") from None
    except (ValueError, TypeError, KeyError, AttributeError, OSError, RecursionError) as error:
        if isinstance(error, ModelFileError):
            raise
        raise _damaged(folder, error) from error
    return manifest


def _check_names(manifest: dict[str, Any]) -> None:
    named = [manifest["arrays"], *manifest["tables"].values()]
    for name in [*named, *manifest["files"]]:
        if not FILE_NAME.fullmatch(name):
            raise ValueError(f"{name!r} is not a name of a file in the folder")
    if set(named) != set(manifest["files"]):
        raise ValueError(f"{MANIFEST} does not list the files that it uses")


def _checked(opened: OpenFolder, name: str, recorded: dict[str, Any], verify: bool) -> BinaryIO:
    """A file of the folder, opened after checking its size and hash."""
    try:
        file = opened.open(name)
    except FileNotFoundError:
        raise ModelFileError(f"{opened.path} is not a complete model: {name} is missing") from None
    except (ValueError, OSError) as error:
        raise _damaged(opened.path, error) from error
    try:
        size = os.fstat(file.fileno()).st_size
        if size != recorded["size"]:
            raise ValueError(f"{name} has {size} bytes instead of {recorded['size']}")
        if verify and _sha256(file) != recorded["sha256"]:
            raise ValueError(f"{name} does not match its SHA-256")
    except (ValueError, TypeError, KeyError, OSError) as error:
        file.close()
        raise _damaged(opened.path, error) from error
    return file


def _fingerprint(path: Path) -> dict[str, Any]:
    with open(path, "rb") as file:
        return {"size": os.fstat(file.fileno()).st_size, "sha256": _sha256(file)}


def _sha256(file: BinaryIO) -> str:
    return hashlib.file_digest(cast(io.BufferedReader, file), "sha256").hexdigest()


def _digest(manifest: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(manifest, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _damaged(folder: Path, error: BaseException) -> ModelFileError:
    why = error.args[0] if isinstance(error, ValueError) and error.args else f"{type(error).__name__}: {error}"
    return ModelFileError(f"the model in {folder} is damaged ({why}); copy it again or train it again")


def _library_versions() -> dict[str, str]:
    versions = {"rankae": __version__, "python": platform.python_version()}
    for name in LIBRARIES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:  # not every method needs every library
            continue
    return versions
