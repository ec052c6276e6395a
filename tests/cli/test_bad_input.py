"""Data and models that cannot be read: one sentence with its place, exit code 2, and nothing written."""

from __future__ import annotations

import gzip
import json

import pytest

from rankae.data import opening

BAD = {
    "header.txt": (b"3 2 2\n0 0:1\n", "header.txt"),
    "negative.txt": (b"2 2 2\n0 0:1\n-1 0:1\n", "line 3"),
    "words.txt": (b"1 2 2\n0 0:one\n", "line 2"),
    "nan.txt": (b"1 2 2\n0 0:nan\n", "line 2"),
    "infinite.txt": (b"1 2 2\n0 0:inf\n", "line 2"),
    "range.txt": (b"1 2 2\n0 7:1\n", "line 2"),
    "twice.txt": (b"1 2 2\n0 1:1 1:2\n", "line 2"),
    "utf8.jsonl": (b'{"text": "a", "labels": ["b"]}\n{"text": "\xff", "labels": ["b"]}\n', "line 2"),
    "nolabels.jsonl": (b'{"text": "a", "labels": ["b"]}\n{"text": "a"}\n', "line 2"),
    "nojson.jsonl": (b'{"text": "a", "labels": ["b"]}\n{"text": \n', "line 2"),
    "empty.txt": (b"", "empty"),
    "cut.jsonl.gz": (gzip.compress(b'{"text": "a", "labels": ["b"]}\n' * 99)[:-9], "damaged or cut short"),
    "what.doc": (b"x", "cannot tell the format"),
}


@pytest.mark.parametrize("name", BAD)
def test_data_that_cannot_be_read(rankae, tmp_path, name):
    content, told = BAD[name]
    (tmp_path / name).write_bytes(content)
    ended = rankae("train", tmp_path / name, "--model", tmp_path / "m", "--method", "popular")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.count("\n") == 1
    assert name in ended.err
    assert told in ended.err
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_file_that_is_not_there(rankae, tmp_path):
    ended = rankae("train", tmp_path / "none.txt", "--model", tmp_path / "m", "--method", "popular")
    assert (ended.code, ended.err) == (2, f"rankae: {tmp_path}/none.txt: there is no such file or folder\n")


def test_a_gzip_bomb(rankae, tmp_path, monkeypatch):
    monkeypatch.setattr(opening, "FREE_BYTES", 1 << 16)
    (tmp_path / "bomb.jsonl.gz").write_bytes(gzip.compress(b'{"text": "a", "labels": ["b"]}\n' * 50_000))
    ended = rankae("train", tmp_path / "bomb.jsonl.gz", "--model", tmp_path / "m", "--method", "popular")
    assert ended.code == 2
    assert "decompression bomb" in ended.err
    assert not (tmp_path / "m").exists()


def test_windows_line_ends_and_a_byte_order_mark_are_read(rankae, tmp_path):
    (tmp_path / "windows.txt").write_bytes(b"\xef\xbb\xbf2 2 2\r\n0 0:1\r\n1 1:1\r\n")
    ended = rankae("train", tmp_path / "windows.txt", "--model", tmp_path / "m", "--method", "popular", "--json")
    assert (ended.code, json.loads(ended.out)["rows"]) == (0, 2)


@pytest.mark.parametrize("command", ["evaluate", "predict"])
def test_a_folder_that_is_not_a_model(rankae, data, command):
    ended = rankae(command, data, data / "test.jsonl")
    assert (ended.code, ended.err) == (2, f"rankae: {data} is not a model folder: it has no model.json\n")


def test_a_full_disk(rankae, data, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("rankae.model_file.folder.write_arrays", full)
    ended = rankae("train", data, "--model", tmp_path / "m", "--method", "popular")
    assert ended.code == 2
    assert "No space left on device" in ended.err
    assert not list(tmp_path.iterdir())
