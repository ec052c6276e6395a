"""NumPy .npz: a whole Dataset in one file, or a scipy sparse matrix (X.train.npz with its labels in Y.train.npz).

Either may hold `vectors`, a dense block of as many rows, beside its texts or features.
"""

from __future__ import annotations

import os
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse as sp

from rankae.data.dataset import Dataset
from rankae.data.opening import FREE_BYTES, MOST_BYTES, MOST_RATIO
from rankae.data.vectors import TextWithVector, checked_vectors, given_vectors, with_vectors
from rankae.errors import DataError

MOST_ROWS_PER_BYTE = 8  # a compressed matrix of empty rows takes less than a byte for each


def read(path: str) -> Dataset:
    """Read a file that `write` wrote, or a scipy matrix X.* and its labels Y.*."""
    return _read(path, must_have_labels=True)


def batches(path: str, size: int) -> Iterator[Dataset]:
    """Pieces of `size` rows; a scipy matrix needs no labels."""
    data = _read(path, must_have_labels=False)
    for start in range(0, len(data), size):
        yield data.take(slice(start, start + size))


def write(data: Dataset, stream: BinaryIO) -> None:
    """Write everything a Dataset holds, without pickle: strings are UTF-8 bytes and their ends."""
    arrays = _matrix_arrays("labels", data.labels)
    if data.features is not None:
        arrays |= _matrix_arrays("features", data.features)
    for name in ("texts", "label_names", "feature_names"):
        if (strings := getattr(data, name)) is not None:
            packed = [s.encode(errors="surrogatepass") for s in strings]
            arrays[f"{name}_utf8"] = np.frombuffer(b"".join(packed), dtype=np.uint8)
            arrays[f"{name}_ends"] = np.cumsum([len(s) for s in packed], dtype=np.int64)
    if data.texts and isinstance(data.texts[0], TextWithVector):
        arrays["vectors"] = given_vectors(data.texts, len(data.texts[0].vector))
    np.savez_compressed(stream, **arrays)  # type: ignore[arg-type]


def _matrix_arrays(name: str, matrix: sp.csr_matrix) -> dict[str, np.ndarray]:
    return {
        f"{name}_data": matrix.data,
        f"{name}_indices": matrix.indices,
        f"{name}_indptr": matrix.indptr,
        f"{name}_shape": np.array(matrix.shape),
    }


def _read(path: str, must_have_labels: bool) -> Dataset:
    arrays = _arrays(path)
    if "labels_indptr" in arrays:
        features = _matrix(path, arrays, "features_") if "features_indptr" in arrays else None
        labels = _binary(path, _matrix(path, arrays, "labels_"))
        strings = {name: _strings(path, arrays, name) for name in ("texts", "label_names", "feature_names")}
        if "vectors" in arrays:
            features, strings["texts"] = _with_vectors(path, features, strings["texts"], arrays["vectors"])
        return Dataset(labels=labels, features=features, name=path, **strings)  # type: ignore[arg-type]
    if "indptr" not in arrays:
        raise DataError(f"{path}: neither a data set that rankae wrote nor a scipy sparse matrix")
    features = _matrix(path, arrays, "")
    if "vectors" in arrays:
        features, _ = _with_vectors(path, features, None, arrays["vectors"])
    folder, name = os.path.split(path)
    beside = Path(folder) / f"Y{name[1:]}"
    if name.startswith("X") and beside.is_file():
        labels = _binary(str(beside), _matrix(str(beside), _arrays(str(beside)), ""))
    elif must_have_labels:
        raise DataError(f"{path}: holds features only; name it X.train.npz and put its labels beside it in Y.train.npz")
    else:
        labels = sp.csr_matrix((features.shape[0], 0), dtype=np.float32)
    return Dataset(labels=labels, features=features, name=path)


def _arrays(path: str) -> dict[str, np.ndarray]:
    """All arrays of the archive; sizes are checked before anything is unpacked."""
    try:
        packed = os.stat(path).st_size
        with zipfile.ZipFile(path) as archive:
            unpacked = sum(member.file_size for member in archive.infolist())
        if unpacked > min(MOST_BYTES, max(FREE_BYTES, packed * MOST_RATIO)):
            raise DataError(f"{path}: unpacks to {unpacked:,} bytes, which looks like a decompression bomb")
        with np.load(path, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except DataError:
        raise
    except FileNotFoundError:
        raise DataError(f"{path}: there is no such file") from None
    except MemoryError:
        raise DataError(f"{path}: its arrays do not fit in memory") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error})") from None
    except (zipfile.BadZipFile, ValueError, KeyError, EOFError, zlib.error, RuntimeError, NotImplementedError) as error:
        raise DataError(f"{path}: not a readable .npz file ({error})") from None
    except Exception as error:  # numpy parses array headers as Python literals, which can fail in further ways
        raise DataError(f"{path}: a damaged .npz file ({type(error).__name__})") from None


def _matrix(path: str, arrays: dict[str, Any], prefix: str) -> sp.csr_matrix:
    kind = arrays.get(f"{prefix}format")
    has_format = kind is not None and kind.dtype.kind == "S" and kind.size == 1
    name = bytes(kind.item()).decode(errors="replace") if has_format else "csr"  # type: ignore[union-attr]
    if name not in ("csr", "csc"):
        raise DataError(f"{path}: a {name} matrix; save it as CSR with scipy.sparse.save_npz")
    try:
        data, indices, indptr, shape = (arrays[prefix + part] for part in ("data", "indices", "indptr", "shape"))
        if indices.dtype.kind not in "iu" or indptr.dtype.kind not in "iu" or data.dtype.kind not in "fiub":
            raise ValueError("its parts are not numbers")
        make = sp.csr_matrix if name == "csr" else sp.csc_matrix
        with np.errstate(over="ignore"):
            values = data.astype(np.float32)
        matrix = make((values, indices, indptr), shape=tuple(int(n) for n in shape))
        matrix.check_format(full_check=True)
        if matrix.shape[0] > MOST_ROWS_PER_BYTE * (os.stat(path).st_size + FREE_BYTES):
            raise ValueError(f"{matrix.shape[0]:,} rows, which so small a file cannot hold")
        matrix = sp.csr_matrix(matrix)
    except (KeyError, ValueError, TypeError, OverflowError, IndexError, AttributeError, MemoryError) as error:
        raise DataError(f"{path}: not a valid sparse matrix ({str(error) or type(error).__name__})") from None
    if not np.isfinite(matrix.data).all():
        raise DataError(f"{path}: the matrix holds NaN, infinite or too large values")
    stored = matrix.nnz
    matrix.sum_duplicates()
    if matrix.nnz != stored:
        raise DataError(f"{path}: a row gives the same column twice")
    return matrix


def _with_vectors(
    path: str, features: sp.csr_matrix | None, texts: list[str] | None, vectors: np.ndarray
) -> tuple[Any, Any]:
    """Features or texts with the file's dense block, `vectors`, beside them."""
    try:
        if features is not None:
            return with_vectors((features, checked_vectors(vectors))), None
        return None, with_vectors((texts or [""] * len(vectors), checked_vectors(vectors)))
    except DataError as error:
        raise DataError(f"{path}: {error}") from None


def _binary(path: str, labels: sp.csr_matrix) -> sp.csr_matrix:
    labels.eliminate_zeros()
    if not (labels.data == 1).all():
        raise DataError(f"{path}: the label matrix must hold only 0 and 1")
    return labels


def _strings(path: str, arrays: dict[str, Any], name: str) -> list[str] | None:
    if f"{name}_ends" not in arrays:
        return None
    try:
        packed, ends = arrays[f"{name}_utf8"].tobytes(), arrays[f"{name}_ends"].tolist()
        starts = [0, *ends[:-1]]
        # Ends that jump back would let a small file stand for any number of long strings.
        if any(a > b for a, b in zip(starts, ends, strict=True)) or (ends[-1] if ends else 0) != len(packed):
            raise ValueError("the ends of its strings do not follow each other")
        return [packed[a:b].decode(errors="surrogatepass") for a, b in zip(starts, ends, strict=True)]
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise DataError(f"{path}: {name} cannot be read ({error})") from None
