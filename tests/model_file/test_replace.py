"""A new model in the place of an old one: a crash or a full disk costs nothing."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from rankae.errors import ModelFileError
from rankae.model_file import read_model


def test_a_new_model_takes_the_place_of_the_old_one(tmp_path, write):
    place = write(tmp_path / "deep" / "model")
    write(place, tables={"labels": ["new"]})
    assert read_model(place).tables == {"labels": ["new"]}
    assert not (place / "words.json").exists()
    assert list(place.parent.iterdir()) == [place]


def test_other_readers_may_read_the_folder(place, tmp_path):
    (tmp_path / "usual").mkdir()
    assert place.stat().st_mode == (tmp_path / "usual").stat().st_mode
    (tmp_path / "usual" / "file").touch()
    assert {path.stat().st_mode for path in place.iterdir()} == {(tmp_path / "usual" / "file").stat().st_mode}


def test_what_is_no_model_is_not_overwritten(tmp_path, write):
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
def test_a_crash_leaves_the_old_model_or_the_new_one(place, tmp_path, renames, survivor, write):
    ended = subprocess.run([sys.executable, "-c", CRASHING, str(place), str(renames)], check=False)
    assert ended.returncode == 9
    assert read_model(place).method == survivor
    write(place, method="later")
    assert read_model(place).method == "later"
    assert not (tmp_path / ".model.old").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="file size limits are POSIX's")
def test_a_full_disk_leaves_the_old_model(place, tmp_path, write):
    import resource

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


def test_a_place_that_cannot_be_written_is_one_sentence(tmp_path, write):
    (tmp_path / "file").write_text("x")
    with pytest.raises(ModelFileError, match="cannot be written"):
        write(tmp_path / "file" / "model")
