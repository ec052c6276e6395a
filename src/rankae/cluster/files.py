"""Arrays and CSR matrices as files that other processes map; files are named by content and checked when opened.

A file's name begins with the SHA-256 of its content or of its work order, so that the same content is written once.
Damaged files are detected by their checksum.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from rankae.errors import RankaeError
from rankae.model_file import pack_csr, unpack_csr
from rankae.model_file.replace_file import replacing_file, write_text
from rankae.model_file.tensors import map_arrays, write_arrays

_CSR = "csr."


def write_once(folder: Path, arrays: Mapping[str, Any]) -> dict[str, Any]:
    """Write arrays and CSR matrices unless the same ones exist; returns the record that `open_checked` needs."""
    digest = hashlib.sha256()
    for name in sorted(arrays):
        digest.update(f"{name}:{_description(arrays[name])}".encode())
    path = folder / f"{digest.hexdigest()[:24]}.safetensors"
    record = path.with_suffix(".json")
    if record.exists() and path.exists():
        known = json.loads(record.read_text())
        if path.stat().st_size == known["bytes"] and sha256_of(path) == known["sha256"]:
            return known
    return write_checked(path, arrays) | {"path": str(path)}


def write_checked(path: Path, arrays: Mapping[str, Any]) -> dict[str, Any]:
    """Write a file atomically, then its record with size and SHA-256."""
    flat: dict[str, np.ndarray] = {}
    for name, value in arrays.items():
        flat |= pack_csr(f"{_CSR}{name}", value) if sp.issparse(value) else {name: np.asarray(value)}
    with replacing_file(path) as beside:
        write_arrays(beside, flat)
        record = {"path": str(path), "bytes": beside.stat().st_size, "sha256": sha256_of(beside)}
    write_text(path.with_suffix(".json"), json.dumps(record))
    return record


def is_whole(record: dict[str, Any]) -> bool:
    """Whether the file of a record exists and is unchanged."""
    path = Path(record["path"])
    try:
        return path.stat().st_size == record["bytes"] and sha256_of(path) == record["sha256"]
    except OSError:
        return False


def open_checked(record: dict[str, Any]) -> dict[str, Any]:
    """Mapped arrays and CSR matrices over mapped arrays."""
    if not is_whole(record):
        raise RankaeError(f"{record['path']}: the file is missing, cut short or changed; start the command again")
    with open(record["path"], "rb") as file:
        arrays = map_arrays(file)
    opened: dict[str, Any] = {name: value for name, value in arrays.items() if not name.startswith(_CSR)}
    for name in {name.removeprefix(_CSR).rpartition(".")[0] for name in arrays if name.startswith(_CSR)}:
        opened[name] = unpack_csr(arrays, f"{_CSR}{name}")
    return opened


def sha256_of(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _description(value: Any) -> str:
    if sp.issparse(value):
        parts = value.indptr, value.indices, value.data
        return f"csr {value.shape} " + " ".join(map(_description, parts))
    array = np.ascontiguousarray(value)
    return f"{array.dtype} {array.shape} {hashlib.sha256(array.view(np.uint8).data if array.size else b'').hexdigest()}"
