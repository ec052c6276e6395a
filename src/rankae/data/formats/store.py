"""Mapped store: features and labels as columns of a file that is mapped, not read, so that they may exceed the memory.

A safetensors file with the arrays of two CSR matrices, names if there are any, and the SHA-256 of each array, which is
checked when the file is opened. `write_pieces` writes it from pieces of rows: memory holds one piece at a time.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse as sp

from rankae.data.dataset import Dataset
from rankae.errors import DataError
from rankae.model_file.tensors import map_arrays

FORMAT = "rankae-store-1"
_COPIED = 1 << 22  # bytes at a time
_KINDS = {"I64": np.int64, "I32": np.int32, "F32": np.float32, "U8": np.uint8}
_INT32 = 2**31 - 1
_NAMES = ("label_names", "feature_names")


def read(path: str) -> Dataset:
    """The whole file, mapped; what is written to the arrays never reaches it."""
    arrays = _opened(path)
    try:
        shape = [int(side) for side in arrays["shape"]]
        rows, features, labels = shape
        words = _matrix(arrays, "features", (rows, features), arrays["features.data"])
        ones = np.ones(len(arrays["labels.indices"]), dtype=np.float32)
        carried = _matrix(arrays, "labels", (rows, labels), ones)
        names = {name: _strings(arrays, name) for name in _NAMES}
    except (KeyError, ValueError, IndexError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: the store contradicts itself ({error}); convert the data again") from None
    return Dataset(labels=carried, features=words, name=path, **names)  # type: ignore[arg-type]


def batches(path: str, size: int) -> Iterator[Dataset]:
    data = read(path)
    for start in range(0, len(data), size):
        yield data.take(slice(start, start + size))


def write(data: Dataset, stream: BinaryIO) -> None:
    if data.features is None:
        raise DataError(f"{data.name}: a store holds features, not raw text; give --words to turn texts into words")
    write_pieces([data], stream, data.n_features, data.n_labels, data.label_names, data.feature_names)


def write_pieces(
    pieces: Iterable[Dataset],
    stream: BinaryIO,
    n_features: int,
    n_labels: int,
    label_names: list[str] | None = None,
    feature_names: list[str] | None = None,
) -> int:
    """Write pieces of rows, one after the other; gives how many rows there were."""
    with tempfile.TemporaryDirectory(prefix="rankae-store-") as folder:
        columns = {
            name: _Column(Path(folder) / name) for name in ("features.data", "features.indices", "labels.indices")
        }
        ends: dict[str, list[np.ndarray]] = {"features": [np.zeros(1, np.int64)], "labels": [np.zeros(1, np.int64)]}
        for piece in pieces:
            assert piece.features is not None
            for name, matrix in (("features", piece.features), ("labels", piece.labels)):
                ends[name].append(matrix.indptr[1:].astype(np.int64) + ends[name][-1][-1])
                columns[f"{name}.indices"].add(matrix.indices.astype(np.int32, copy=False))
            columns["features.data"].add(piece.features.data.astype(np.float32, copy=False))
        starts = {name: np.concatenate(part) for name, part in ends.items()}
        rows = len(starts["features"]) - 1
        small: dict[str, np.ndarray] = {"shape": np.array([rows, n_features, n_labels], dtype=np.int64)}
        for name, part in starts.items():
            small[f"{name}.indptr"] = part if part[-1] > _INT32 else part.astype(np.int32)
        for name, names in zip(_NAMES, (label_names, feature_names), strict=True):
            if names is not None:
                coded = [part.encode("utf-8", "surrogatepass") for part in names]
                small[f"{name}.ends"] = np.cumsum([len(part) for part in coded], dtype=np.int64)
                small[name] = np.frombuffer(b"".join(coded), dtype=np.uint8)
        for name, array in small.items():
            columns[name] = _Column(Path(folder) / name)
            columns[name].add(array)
        _assemble(columns, stream)
    return rows


class _Column:
    """An array that grows in a file of its own, and its SHA-256."""

    def __init__(self, path: Path) -> None:
        self.path, self.count, self.dtype = path, 0, np.dtype(np.uint8)
        self.digest = hashlib.sha256()
        path.touch()

    def add(self, values: np.ndarray) -> None:
        self.dtype, self.count = values.dtype, self.count + len(values)
        coded = np.ascontiguousarray(values).tobytes()
        self.digest.update(coded)
        with self.path.open("ab") as file:
            file.write(coded)


def _assemble(columns: dict[str, _Column], stream: BinaryIO) -> None:
    """The header, and the columns one after the other: wider numbers first, so that all are aligned."""
    order = sorted(columns, key=lambda name: (-columns[name].dtype.itemsize, name))
    header: dict[str, Any] = {
        "__metadata__": {"format": FORMAT} | {n: c.digest.hexdigest() for n, c in columns.items()}
    }
    kinds, end = {np.dtype(kind): code for code, kind in _KINDS.items()}, 0
    for name in order:
        part = columns[name]
        begin, end = end, end + part.count * part.dtype.itemsize
        header[name] = {"dtype": kinds[part.dtype], "shape": [part.count], "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 64 + 56)  # with the eight bytes before it, a multiple of 64
    text = text[: len(text) - (len(text) + 8) % 64]
    stream.write(len(text).to_bytes(8, "little") + text)
    for name in order:
        with columns[name].path.open("rb") as file:
            while block := file.read(_COPIED):
                stream.write(block)


def _opened(path: str) -> dict[str, np.ndarray]:
    try:
        with open(path, "rb") as file:
            arrays = map_arrays(file)
            file.seek(0)
            header = json.loads(file.read(int.from_bytes(file.read(8), "little")))["__metadata__"]
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(f"{path}: not a store, or cut short ({error}); convert the data again") from None
    if header.get("format") != FORMAT:
        raise DataError(f"{path}: not a store of rankae's; convert the data again")
    for name, array in arrays.items():
        if hashlib.sha256(array.view(np.uint8).data if array.size else b"").hexdigest() != header.get(name):
            raise DataError(
                f"{path}: the store was damaged ({name} does not match its SHA-256); convert the data again"
            )
    return arrays


def _matrix(arrays: dict[str, np.ndarray], name: str, shape: tuple[int, int], data: np.ndarray) -> sp.csr_matrix:
    indices, indptr = arrays[f"{name}.indices"], arrays[f"{name}.indptr"]
    if len(indices) and not 0 <= int(indices.min()) <= int(indices.max()) < shape[1]:
        raise ValueError(f"{name} has columns beyond {shape[1]}")
    matrix = sp.csr_matrix((data, indices, indptr), shape=shape)
    matrix.check_format(full_check=False)
    if (np.diff(indptr) < 0).any():
        raise ValueError(f"{name} has rows that end before they begin")
    return matrix


def _strings(arrays: dict[str, np.ndarray], name: str) -> list[str] | None:
    if name not in arrays:
        return None
    whole, ends = arrays[name].tobytes(), arrays[f"{name}.ends"].tolist()
    return [whole[a:b].decode("utf-8", "surrogatepass") for a, b in zip([0, *ends[:-1]], ends, strict=True)]
