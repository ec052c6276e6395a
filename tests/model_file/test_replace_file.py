"""A file is replaced whole, or stays as it was."""

from __future__ import annotations

import pytest

from rankae.model_file.replace_file import replacing_file, write_text


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path):
    write_text(tmp_path / "deep" / "file", "old")
    with pytest.raises(KeyboardInterrupt):
        _interrupted(tmp_path / "deep" / "file")
    assert (tmp_path / "deep" / "file").read_text() == "old"
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["file"]


def _interrupted(path):
    with replacing_file(path) as beside:
        beside.write_text("half of the new")
        raise KeyboardInterrupt


def test_a_new_file_has_the_usual_mode(tmp_path):
    (tmp_path / "usual").touch()
    write_text(tmp_path / "file", "é")
    assert (tmp_path / "file").stat().st_mode == (tmp_path / "usual").stat().st_mode
    assert (tmp_path / "file").read_text(encoding="utf-8") == "é"
