"""Arrays on disk: foreign files, sparse matrices, and forged headers."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from safetensors.numpy import save_file

from rankae.errors import ModelFileError
from rankae.model_file import pack_csr, read_model, unpack_csr
from rankae.model_file.tensors import map_arrays


def mapped(path):
    with open(path, "rb") as file:
        return map_arrays(file)


def test_files_of_the_safetensors_library_are_read(tmp_path, toy):
    arrays = {name: np.ascontiguousarray(array) for name, array in toy["arrays"].items()}
    save_file(arrays, tmp_path / "x", {"by": "others"})
    found = mapped(tmp_path / "x")
    np.testing.assert_array_equal(found["halves"], arrays["halves"], strict=True)


@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csr_array])
def test_csr_matrices_round_trip(tmp_path, kind, write):
    matrix = kind(sp.random(5, 7, density=0.3, random_state=0, dtype=np.float32))
    place = write(tmp_path / "model", arrays=pack_csr("weights", matrix) | pack_csr("empty", kind((0, 3))))
    arrays = read_model(place).arrays
    found = unpack_csr(arrays, "weights")
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found.toarray(), matrix.toarray())
    assert unpack_csr(arrays, "empty").shape == (0, 3)


@pytest.mark.parametrize(
    "wrong",
    [
        {"weights.indices": np.array([0, 9], dtype=np.int32)},  # a column that is not there
        {"weights.indptr": np.array([0, 2, 1], dtype=np.int32)},
        {"weights.shape": np.array([2])},
        {"weights.data": np.ones(5)},
    ],
)
def test_inconsistent_csr_is_refused(wrong):
    good = pack_csr("weights", sp.csr_matrix(np.eye(2)))
    with pytest.raises(ModelFileError, match="matrix weights"):
        unpack_csr(good | wrong, "weights")
    with pytest.raises(ModelFileError, match="matrix other"):
        unpack_csr(good, "other")


def tensors(header: Any, data: bytes = b"", length: int | None = None) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return (len(text) if length is None else length).to_bytes(8, "little") + text + data


def entry(dtype: str = "F32", shape: Any = (2,), offsets: Any = (0, 8)) -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": offsets}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x01\x02",
        tensors({}, length=2**63),
        tensors(b"[]"),
        tensors(b"{nonsense"),
        tensors({"a": 3}),
        tensors({"a": {}}),
        tensors({"a": entry()}, b"1234"),  # ends too early
        tensors({"a": entry()}, b"123456789"),  # goes on after the end
        tensors({"a": entry(), "b": entry()}, b"12345678"),  # two arrays in one place
        tensors({"a": entry(offsets=(4, 12))}, b"123456789012"),  # a gap
        tensors({"a": entry(offsets=(8, 0))}, b""),
        tensors({"a": entry(shape=(3,))}, b"12345678"),
        tensors({"a": entry(shape=(-1, -2))}, b"12345678"),
        tensors({"a": entry(shape=(2**62, 2**62, 4, 0))}, b"12345678"),
        tensors({"a": entry(shape=2)}, b"12345678"),
        tensors({"a": entry(shape=(2.0,))}, b"12345678"),
        tensors({"a": entry(dtype="OBJECT")}, b"12345678"),
        tensors({"a": entry(offsets=("0", "8"))}, b"12345678"),
    ],
)
def test_forged_arrays_are_refused(place, content, refused, replace_file):
    replace_file(place, "model.safetensors", content)
    assert "damaged" in refused(place)


def test_unaligned_arrays_are_copied_to_alignment(tmp_path):
    header = {"a": entry("U8", (1,), (0, 1)), "b": entry("F32", (2,), (1, 9))}
    (tmp_path / "x").write_bytes(tensors(header, b"\x07" + np.array([1.5, 2.5], dtype=np.float32).tobytes()))
    found = mapped(tmp_path / "x")
    assert found["b"].flags.aligned
    np.testing.assert_array_equal(found["b"], [1.5, 2.5])
