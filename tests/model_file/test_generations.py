"""Reading while another process saves, writers that were killed, and two writers at one place."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import numpy as np
import pytest

from rankae.errors import ModelFileError
from rankae.model_file import read_model
from rankae.model_file.checkpoint import Checkpoint, write_checkpoint
from rankae.model_file.lock import only_one

SAVING = """
import sys
import numpy as np
from rankae.model_file import write_model

for number in range(int(sys.argv[2])):
    arrays = {"a": np.full(50_000, number), "b": np.full(50_000, number)}
    write_model(sys.argv[1], method="toy", settings={"n": number}, arrays=arrays, tables={"labels": [number] * 1000})
"""


def test_what_is_read_while_another_process_saves_is_of_one_model(tmp_path):
    place = tmp_path / "model"
    subprocess.run([sys.executable, "-c", SAVING, str(place), "1"], check=True)
    seen = set()
    with subprocess.Popen([sys.executable, "-c", SAVING, str(place), "150"]) as writer:
        while writer.poll() is None:
            found = read_model(place)
            number = found.settings["n"]
            assert set(found.tables["labels"]) == {number}
            assert {int(v) for array in found.arrays.values() for v in (array[0], array[-1])} == {number}
            seen.add(number)
    assert len(seen) > 1
    assert read_model(place).settings["n"] == 149


def test_a_save_clears_what_killed_writers_left(tmp_path, write):
    left, young = tmp_path / ".model.writing-abc", tmp_path / ".model.writing-def"
    other = tmp_path / ".models.writing-abc"
    for folder in (left, young, other):
        folder.mkdir()
        (folder / "model.safetensors").write_bytes(b"half")
    for folder in (left, other):
        os.utime(folder, (time.time() - 3600,) * 2)
    write(tmp_path / "model")
    assert {path.name for path in tmp_path.iterdir()} == {"model", young.name, other.name}


@pytest.mark.skipif(os.name != "posix", reason="folders cannot be locked here")
def test_a_save_leaves_the_folder_of_a_living_writer_alone(tmp_path, write):
    from rankae.model_file.lock import try_to_lock

    living = tmp_path / ".model.writing-abc"
    living.mkdir()
    os.utime(living, (time.time() - 3600,) * 2)
    number = os.open(living, os.O_RDONLY)
    assert try_to_lock(number)
    write(tmp_path / "model")
    assert living.is_dir()
    os.close(number)


def test_the_second_writer_is_told(tmp_path):
    place = tmp_path / "m.checkpoint"
    with (
        only_one(place, "training"),
        pytest.raises(ModelFileError, match="another training is writing to"),
        only_one(place, "training"),
    ):
        pass
    with only_one(place, "training"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_link_in_a_model_folder_is_refused(place, refused):
    content = (place / "labels.json").read_bytes()
    (place.parent / "elsewhere.json").write_bytes(content)
    (place / "labels.json").unlink()
    (place / "labels.json").symlink_to(place.parent / "elsewhere.json")
    assert "not a plain file" in refused(place)


def test_a_full_disk_at_a_checkpoint_is_one_sentence_and_keeps_the_one_before(tmp_path, monkeypatch):
    import torch
    from safetensors import SafetensorError

    from rankae.model_file import checkpoint

    write_checkpoint(tmp_path, Checkpoint({"a": torch.zeros(3)}, {"epoch": 1}))

    def full(*_, **__):
        raise SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)")

    monkeypatch.setattr(checkpoint, "save_file", full)
    with pytest.raises(ModelFileError, match=r"cannot be written \(No space left on device"):
        write_checkpoint(tmp_path, Checkpoint({"a": torch.ones(3)}, {"epoch": 2}))
    found = checkpoint.read_checkpoint(tmp_path)
    assert found.facts == {"epoch": 1}
    np.testing.assert_array_equal(found.tensors["a"].numpy(), np.zeros(3))
