"""What is damaged, foreign or forged is refused in one sentence, and nothing outside the folder is read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankae.errors import ModelFileError
from rankae.model_file import folder, read_model

FILES = ["model.json", "model.safetensors", "labels.json", "words.json"]


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("damage", ["missing", "empty", "cut", "longer", "folder"])
def test_damaged_files_are_refused(place, name, damage, refused):
    content = (place / name).read_bytes()
    (place / name).unlink()
    if damage == "folder":
        (place / name).mkdir()
    elif damage != "missing":
        changed = {"empty": b"", "cut": content[: len(content) // 2], "longer": content + b"x"}[damage]
        (place / name).write_bytes(changed)
    assert str(place) in refused(place)


@pytest.fixture(scope="module")
def sound(tmp_path_factory, write) -> Path:
    return write(tmp_path_factory.mktemp("sound") / "model")


@given(st.sampled_from(FILES), st.floats(0, 1, exclude_max=True), st.integers(1, 255))
def test_no_changed_byte_goes_unnoticed(sound, toy, name, where, change):
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
    assert (name, found.settings, found.tables) == (
        "model.json",
        toy["settings"],
        toy["tables"],
    )  # one blank for another


def test_hashes_are_checked_unless_the_user_says_otherwise(place, refused):
    content = bytearray((place / "model.safetensors").read_bytes())
    content[-1] ^= 1
    (place / "model.safetensors").write_bytes(content)
    assert "SHA-256" in refused(place)
    assert read_model(place, verify=False).method == "toy"


def test_damage_beyond_the_first_megabytes_is_noticed(tmp_path, write, refused):
    place = write(tmp_path / "large", arrays={"table": np.zeros(2**23, dtype=np.float64)})  # 64 MiB
    with open(place / "model.safetensors", "r+b") as file:
        file.seek(2**26 - 5)
        file.write(b"\x01")
    assert "SHA-256" in refused(place)


def test_what_is_no_model_folder_is_refused(tmp_path, refused):
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


def test_a_newer_format_is_refused_before_anything_else_is_read(tmp_path, refused):
    place = tmp_path / "model"
    place.mkdir()
    (place / "model.json").write_text('{"format": "rankae-model", "version": 2, "whatever": "comes"}')
    assert "install a newer rankae" in refused(place)


def test_another_method_is_refused(place, refused):
    assert "method toy, not rank-ae" in refused(place, method="rank-ae")


@pytest.mark.parametrize("name", ["../outside.json", "/etc/passwd", "..", ".hidden", "a/b", "", 3, None])
def test_no_name_leads_out_of_the_folder(place, tmp_path, name, refused, forge):
    (tmp_path / "outside.json").write_text("[]")

    def edit(manifest: dict[str, Any]) -> None:
        manifest["tables"]["labels"] = name
        manifest["files"][name if isinstance(name, str) else "x"] = manifest["files"].pop("labels.json")

    forge(place, edit)
    assert "damaged" in refused(place)


def test_links_are_not_followed(place, tmp_path, refused):
    (place / "labels.json").rename(tmp_path / "elsewhere.json")
    os.symlink(tmp_path / "elsewhere.json", place / "labels.json")
    assert "not a plain file" in refused(place)


def test_oversized_json_is_refused_unread(place, monkeypatch, refused):
    monkeypatch.setattr(folder, "MOST_TABLE_BYTES", 4)
    assert "labels.json is larger" in refused(place)
    with open(place / "model.json", "r+b") as file:
        file.truncate(2**40)  # sparse: it takes no room, but predicted it would
    assert "model.json is larger" in refused(place)


@pytest.mark.parametrize(
    "content", [b"{}", b"null", b"[1", b"\xff\xfe", b"[" * 100_000, b'[{"__float__": "x"}]', b'[{"__tuple__": 1}]']
)
def test_tables_that_are_no_lists_of_names_are_refused(place, content, refused, replace_file):
    replace_file(place, "labels.json", content)
    assert "damaged" in refused(place)
