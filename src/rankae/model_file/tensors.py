"""Arrays in a safetensors file: written by the library, read by memory mapping.

The library's reader copies every array. With mapping, predictions can start before the whole file is read, and several
processes share one copy. The mapping is copy-on-write: arrays are writable, and changes never reach the file.
"""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse as sp

from rankae.errors import ModelFileError

MOST_HEADER_BYTES = 2**24
DTYPES = {
    "F64": np.float64,
    "F32": np.float32,
    "F16": np.float16,
    "I64": np.int64,
    "I32": np.int32,
    "I16": np.int16,
    "I8": np.int8,
    "U64": np.uint64,
    "U32": np.uint32,
    "U16": np.uint16,
    "U8": np.uint8,
    "BOOL": np.bool_,
}


def pack_csr(name: str, matrix: sp.csr_matrix) -> dict[str, np.ndarray]:
    """The arrays of a CSR matrix, for `unpack_csr`."""
    return {
        f"{name}.data": matrix.data,
        f"{name}.indices": matrix.indices,
        f"{name}.indptr": matrix.indptr,
        f"{name}.shape": np.array(matrix.shape, dtype=np.int64),
    }


def unpack_csr(arrays: dict[str, np.ndarray], name: str, wanted: tuple[int, int] | None = None) -> sp.csr_matrix:
    """The CSR matrix stored under `name`, sharing memory with `arrays`; it must have the shape `wanted`, if given."""
    try:
        data, indices, indptr, shape = (arrays[f"{name}.{part}"] for part in ("data", "indices", "indptr", "shape"))
        matrix = sp.csr_matrix((data, indices, indptr), shape=tuple(shape.tolist()))
        matrix.check_format(full_check=True)
    except (KeyError, ValueError, IndexError) as error:
        raise ModelFileError(
            f"the model's matrix {name} is missing or inconsistent; train and save it again"
        ) from error
    if wanted is not None and matrix.shape != wanted:
        raise ModelFileError(f"the model's matrix {name} does not fit its labels or features; train it again")
    return matrix


def write_arrays(path: Path, arrays: dict[str, np.ndarray]) -> None:
    """Write arrays to a new safetensors file."""
    from safetensors import SafetensorError
    from safetensors.numpy import save_file

    for name, array in arrays.items():
        if np.dtype(array.dtype).newbyteorder("=") not in map(np.dtype, DTYPES.values()):
            raise ModelFileError(f"array {name} holds {array.dtype}, which a model file cannot hold")
    try:
        save_file({name: np.ascontiguousarray(array).reshape(array.shape) for name, array in arrays.items()}, path)
    except SafetensorError as error:  # a full disk comes as the library's own error
        raise OSError(str(error).rpartition("I/O error: ")[2]) from error


def map_arrays(file: BinaryIO) -> dict[str, np.ndarray]:
    """The arrays of a safetensors file, mapped; raises ValueError if the file contradicts its header."""
    size = os.fstat(file.fileno()).st_size
    file.seek(0)
    length = int.from_bytes(file.read(8), "little")
    if size < 8 or length > min(size - 8, MOST_HEADER_BYTES):
        raise ValueError("the header does not fit")
    header = json.loads(file.read(length))
    start = 8 + length
    header.pop("__metadata__", None)
    _check_tiling([entry["data_offsets"] for entry in header.values()], size - start)
    return {name: _mapped(file, start, entry) for name, entry in header.items()}


def _check_tiling(offsets: list[list[int]], size: int) -> None:
    """Refuse files whose arrays do not follow each other without gap or overlap to the end: they are cut or forged."""
    end = 0
    for first, last in sorted(map(tuple, offsets)):
        if first != end or last < first:
            raise ValueError("the arrays overlap or leave gaps")
        end = last
    if end != size:
        raise ValueError("the arrays do not end where the file ends")


def _mapped(file: BinaryIO, start: int, entry: dict[str, Any]) -> np.ndarray:
    """One array, with a mapping of its own: scipy copies arrays that are a small part of a larger one."""
    first, last = entry["data_offsets"]
    dtype, shape = np.dtype(DTYPES[entry["dtype"]]), tuple(entry["shape"])
    if any(side < 0 for side in shape) or math.prod(shape) * dtype.itemsize != last - first:
        raise ValueError("an array is not as long as its shape says")
    if first == last:  # nothing cannot be mapped
        return np.empty(shape, dtype)
    array = np.memmap(file, dtype, mode="c", offset=start + first, shape=shape).view(np.ndarray)
    return array if array.flags.aligned else array.copy()
