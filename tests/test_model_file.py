"""The model folder: what goes in comes out, a crash costs nothing, and what was tampered with is refused."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load_file, save_file

from rankae.errors import ModelFileError
from rankae.model_file import folder, pack_csr, read_model, unpack_csr, write_model
from rankae.model_file.plain import names_from_json, names_to_json
from rankae.model_file.tensors import map_arrays

ARRAYS = {
    "codes": np.arange(12, dtype=np.float32).reshape(3, 4),
    "transposed": np.arange(6, dtype=np.int64).reshape(2, 3).T,
    "scalar": np.float64(2.5) * np.ones(()),
    "none": np.empty((0, 4), dtype=np.float32),
    "flags": np.array([True, False, True]),
    "halves": np.array([0.5, 1.5], dtype=np.float16),
}
LABELS = ["news", "日本語", 'quo"te\n', 3, -1.5, True, None, (1, ("a", None)), ()]
SETTINGS = {"ngrams": (1, 2), "threshold": float("-inf"), "nested": {"list": [1, None, {"x": "y"}]}}


def write(place: Path, **changes: Any) -> Path:
    content = {"method": "toy", "settings": SETTINGS, "arrays": ARRAYS, "tables": {"labels": LABELS, "words": ["a"]}}
    write_model(place, **(content | changes))
    return place


def refused(place: Path, **options: Any) -> str:
    with pytest.raises(ModelFileError) as caught:
        read_model(place, **options)
    sentence = str(caught.value)
    assert "\n" not in sentence
    return sentence


def forge(place: Path, edit: Callable[[dict[str, Any]], Any]) -> None:
    """Change model.json as somebody would who knows the format: with the right SHA-256."""
    manifest = json.loads((place / "model.json").read_text())
    del manifest["sha256"]
    edit(manifest)
    text = json.dumps(manifest, sort_keys=True, separators=(",", ":"))
    manifest["sha256"] = hashlib.sha256(text.encode()).hexdigest()
    (place / "model.json").write_text(json.dumps(manifest))


def replace_file(place: Path, name: str, content: bytes) -> None:
    """Swap a file and record its new size and SHA-256."""
    (place / name).write_bytes(content)
    record = {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    forge(place, lambda manifest: manifest["files"].update({name: record}))


# What goes in comes out --------------------------------------------------------------------------------------------


def test_round_trip(tmp_path):
    found = read_model(write(tmp_path / "model", facts={"P@1": 66.9}), method="toy")
    assert (found.method, found.settings, found.facts) == ("toy", SETTINGS, {"P@1": 66.9})
    assert found.tables == {"labels": LABELS, "words": ["a"]}
    assert [type(name) for name in found.tables["labels"]] == [type(name) for name in LABELS]
    assert found.arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(found.arrays[name], array, strict=True)


def test_the_folder_says_what_it_is(tmp_path):
    place = write(tmp_path / "model")
    assert {path.name for path in place.iterdir()} == {"model.json", "model.safetensors", "labels.json", "words.json"}
    manifest = json.loads((place / "model.json").read_text())
    assert (manifest["format"], manifest["version"], manifest["method"]) == ("rankae-model", 1, "toy")
    assert {"rankae", "python", "numpy"} <= manifest["libraries"].keys()
    for name, record in manifest["files"].items():
        content = (place / name).read_bytes()
        assert record == {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    np.testing.assert_array_equal(load_file(place / "model.safetensors")["codes"], ARRAYS["codes"])


plain_names = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda parts: st.lists(parts, max_size=3).map(tuple),
    max_leaves=5,
)


@settings(max_examples=50)
@given(st.lists(plain_names, max_size=5))
def test_every_plain_label_comes_back_with_its_type(names):
    text = json.dumps(names_to_json(names, "labels"), allow_nan=False)
    found = names_from_json(json.loads(text))
    assert found == names
    assert repr(found) == repr(names)  # equality alone would let 1, 1.0 and True pass for each other


def test_numpy_scalars_come_back_equal_and_hash_alike(tmp_path):
    names = [np.int64(3), np.float32(0.1), np.str_("a"), np.bool_(True), (np.int8(1), "x")]
    found = read_model(write(tmp_path / "model", tables={"labels": names})).tables["labels"]
    assert found == names
    assert [hash(name) for name in found] == [hash(name) for name in names]


@pytest.mark.parametrize("name", [b"raw", date(2020, 1, 1), 1j, frozenset("a"), ("fine", b"not")])
def test_a_label_that_json_cannot_express_is_named(tmp_path, name):
    with pytest.raises(ModelFileError, match="entry 1 of labels is .* cannot hold"):
        write(tmp_path / "model", tables={"labels": ["fine", name]})
    assert not list(tmp_path.iterdir())


def test_settings_that_json_cannot_express_are_named(tmp_path):
    with pytest.raises(ModelFileError, match=r"settings\.parameters\.random_state is RandomState"):
        write(tmp_path / "model", settings={"parameters": {"random_state": np.random.RandomState(0)}})
    with pytest.raises(ModelFileError, match="the key 1"):
        write(tmp_path / "model", settings={"weights": {1: 2}})
    with pytest.raises(ModelFileError, match="array names holds <U1"):
        write(tmp_path / "model", arrays={"names": np.array(["a"])})


def test_arrays_are_writable_views_that_never_reach_the_file(tmp_path):
    place = write(tmp_path / "model")
    before = (place / "model.safetensors").read_bytes()
    codes = read_model(place).arrays["codes"]
    assert not codes.flags.owndata
    codes[:] = -1
    assert (place / "model.safetensors").read_bytes() == before
    np.testing.assert_array_equal(read_model(place).arrays["codes"], ARRAYS["codes"])


def test_arrays_outlive_the_folder_they_came_from(tmp_path):
    place = write(tmp_path / "model")
    codes = read_model(place).arrays["codes"]
    write(place, arrays={})
    np.testing.assert_array_equal(codes, ARRAYS["codes"])


def test_files_of_the_safetensors_library_are_read(tmp_path):
    save_file({name: np.ascontiguousarray(array) for name, array in ARRAYS.items()}, tmp_path / "x", {"by": "others"})
    found = map_arrays(tmp_path / "x")
    np.testing.assert_array_equal(found["halves"], ARRAYS["halves"], strict=True)


@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csr_array])
def test_csr_matrices_round_trip(tmp_path, kind):
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


# A crash costs nothing ---------------------------------------------------------------------------------------------


def test_a_new_model_takes_the_place_of_the_old_one(tmp_path):
    place = write(tmp_path / "deep" / "model")
    write(place, tables={"labels": ["new"]})
    assert read_model(place).tables == {"labels": ["new"]}
    assert not (place / "words.json").exists()
    assert list(place.parent.iterdir()) == [place]


def test_other_readers_may_read_the_folder(tmp_path):
    place = write(tmp_path / "model")
    (tmp_path / "usual").mkdir()
    assert place.stat().st_mode == (tmp_path / "usual").stat().st_mode
    (tmp_path / "usual" / "file").touch()
    assert {path.stat().st_mode for path in place.iterdir()} == {(tmp_path / "usual" / "file").stat().st_mode}


def test_what_is_no_model_is_not_overwritten(tmp_path):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.txt").write_text("years of work")
    (tmp_path / "file").write_text("x")
    for name in ("thesis", "file"):
        with pytest.raises(ModelFileError, match="not a model folder"):
            write(tmp_path / name)
    (tmp_path / "empty").mkdir()
    assert read_model(write(tmp_path / "empty")).method == "toy"
    assert (tmp_path / "thesis" / "chapter.txt").read_text() == "years of work"


CRASHING = """
import os, sys
from pathlib import Path
from rankae.model_file import write_model

renames_left = int(sys.argv[2])
rename = Path.rename

def rename_or_crash(self, target):
    global renames_left
    if renames_left == 0:
        os._exit(9)
    renames_left -= 1
    return rename(self, target)

Path.rename = rename_or_crash
if renames_left == 2:  # both renames done: crash while the old model is deleted
    import shutil
    shutil.rmtree = lambda *a, **k: os._exit(9)
write_model(sys.argv[1], method="new", settings={}, arrays={}, tables={})
"""


@pytest.mark.parametrize(("renames", "survivor"), [(0, "toy"), (1, "toy"), (2, "new")])
def test_a_crash_leaves_the_old_model_or_the_new_one(tmp_path, renames, survivor):
    place = write(tmp_path / "model")
    ended = subprocess.run([sys.executable, "-c", CRASHING, str(place), str(renames)], check=False)
    assert ended.returncode == 9
    assert read_model(place).method == survivor
    write(place, method="later")
    assert read_model(place).method == "later"
    assert not (tmp_path / ".model.old").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="file size limits are POSIX's")
def test_a_full_disk_leaves_the_old_model(tmp_path):
    import resource

    place = write(tmp_path / "model")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2**16, hard))  # no file may grow beyond: writes fail as on a full disk
    try:
        with pytest.raises(ModelFileError, match="cannot be written to .*: File too large"):
            write(place, arrays={"big": np.zeros(2**17, dtype=np.float32)})
        with pytest.raises(ModelFileError, match="cannot be written to .*: File too large"):
            write(place, tables={"labels": ["long" * 2**15]})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert read_model(place).method == "toy"
    assert list(tmp_path.iterdir()) == [place]


def test_a_place_that_cannot_be_written_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(ModelFileError, match="cannot be written"):
        write(tmp_path / "file" / "model")


# What was tampered with is refused ---------------------------------------------------------------------------------

FILES = ["model.json", "model.safetensors", "labels.json", "words.json"]


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("damage", ["missing", "empty", "cut", "longer", "folder"])
def test_damaged_files_are_refused(tmp_path, name, damage):
    place = write(tmp_path / "model")
    content = (place / name).read_bytes()
    (place / name).unlink()
    if damage == "folder":
        (place / name).mkdir()
    elif damage != "missing":
        changed = {"empty": b"", "cut": content[: len(content) // 2], "longer": content + b"x"}[damage]
        (place / name).write_bytes(changed)
    assert str(place) in refused(place)


@pytest.fixture(scope="module")
def sound(tmp_path_factory) -> Path:
    return write(tmp_path_factory.mktemp("sound") / "model")


@given(st.sampled_from(FILES), st.floats(0, 1, exclude_max=True), st.integers(1, 255))
def test_no_changed_byte_goes_unnoticed(sound, name, where, change):
    path = sound / name
    content = path.read_bytes()
    at = int(where * len(content))
    path.write_bytes(content[:at] + bytes([content[at] ^ change]) + content[at + 1 :])
    try:
        found = read_model(sound)
    except ModelFileError:
        return
    finally:
        path.write_bytes(content)
    assert (name, found.settings, found.tables["labels"]) == ("model.json", SETTINGS, LABELS)  # one blank for another


def test_large_files_are_hashed_only_when_asked(tmp_path, monkeypatch):
    place = write(tmp_path / "model")
    content = bytearray((place / "model.safetensors").read_bytes())
    content[-1] ^= 1
    (place / "model.safetensors").write_bytes(content)
    monkeypatch.setattr(folder, "HASHED_BYTES", 100)
    read_model(place)
    assert "SHA-256" in refused(place, verify=True)


def test_what_is_no_model_folder_is_refused(tmp_path):
    assert "is not a model folder" in refused(tmp_path)
    assert "is not a model folder" in refused(tmp_path / "nowhere")
    (tmp_path / "model.json").write_text('{"format": "other"}')
    assert "is not a rankae model" in refused(tmp_path)
    for text in ("[1, 2]", "3"):
        (tmp_path / "model.json").write_text(text)
        assert "is not a rankae model" in refused(tmp_path)
    for text in ("", "{", "[" * 100_000, '{"format": "rankae-model"}', '{"format": "rankae-model", "version": "1"}'):
        (tmp_path / "model.json").write_text(text)
        refused(tmp_path)


def test_a_newer_format_is_refused_before_anything_else_is_read(tmp_path):
    place = tmp_path / "model"
    place.mkdir()
    (place / "model.json").write_text('{"format": "rankae-model", "version": 2, "whatever": "comes"}')
    assert "install a newer rankae" in refused(place)


def test_another_method_is_refused(tmp_path):
    assert "method toy, not rank-ae" in refused(write(tmp_path / "model"), method="rank-ae")


@pytest.mark.parametrize("name", ["../outside.json", "/etc/passwd", "..", ".hidden", "a/b", "", 3, None])
def test_no_name_leads_out_of_the_folder(tmp_path, name):
    place = write(tmp_path / "model")
    (tmp_path / "outside.json").write_text("[]")

    def edit(manifest: dict[str, Any]) -> None:
        manifest["tables"]["labels"] = name
        manifest["files"][name if isinstance(name, str) else "x"] = manifest["files"].pop("labels.json")

    forge(place, edit)
    assert "damaged" in refused(place)


def test_links_are_not_followed(tmp_path):
    place = write(tmp_path / "model")
    (place / "labels.json").rename(tmp_path / "elsewhere.json")
    os.symlink(tmp_path / "elsewhere.json", place / "labels.json")
    assert "not a plain file" in refused(place)


def test_oversized_json_is_refused_unread(tmp_path, monkeypatch):
    place = write(tmp_path / "model")
    monkeypatch.setattr(folder, "MOST_TABLE_BYTES", 4)
    assert "labels.json is larger" in refused(place)
    with open(place / "model.json", "r+b") as file:
        file.truncate(2**40)  # sparse: it takes no room, but reading it would
    assert "model.json is larger" in refused(place)


@pytest.mark.parametrize(
    "content", [b"{}", b"null", b"[1", b"\xff\xfe", b"[" * 100_000, b'[{"__float__": "x"}]', b'[{"__tuple__": 1}]']
)
def test_tables_that_are_no_lists_of_names_are_refused(tmp_path, content):
    place = write(tmp_path / "model")
    replace_file(place, "labels.json", content)
    assert "damaged" in refused(place)


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
def test_forged_arrays_are_refused(tmp_path, content):
    place = write(tmp_path / "model")
    replace_file(place, "model.safetensors", content)
    assert "damaged" in refused(place)


def test_unaligned_arrays_are_copied_to_alignment(tmp_path):
    header = {"a": entry("U8", (1,), (0, 1)), "b": entry("F32", (2,), (1, 9))}
    (tmp_path / "x").write_bytes(tensors(header, b"\x07" + np.array([1.5, 2.5], dtype=np.float32).tobytes()))
    found = map_arrays(tmp_path / "x")
    assert found["b"].flags.aligned
    np.testing.assert_array_equal(found["b"], [1.5, 2.5])
