"""The model folder: what goes in comes out, and what it cannot hold is named."""

from __future__ import annotations

import hashlib
import json
from datetime import date

import numpy as np
import pytest
from safetensors.numpy import load_file

from rankae.errors import ModelFileError
from rankae.model_file import read_model


def test_round_trip(tmp_path, write, toy):
    found = read_model(write(tmp_path / "model", facts={"P@1": 66.9}), method="toy")
    assert (found.method, found.settings, found.facts) == ("toy", toy["settings"], {"P@1": 66.9})
    assert found.tables == toy["tables"]
    assert [type(name) for name in found.tables["labels"]] == [type(name) for name in toy["tables"]["labels"]]
    assert found.arrays.keys() == toy["arrays"].keys()
    for name, array in toy["arrays"].items():
        np.testing.assert_array_equal(found.arrays[name], array, strict=True)


def test_the_folder_says_what_it_is(place, toy):
    assert {path.name for path in place.iterdir()} == {"model.json", "model.safetensors", "labels.json", "words.json"}
    manifest = json.loads((place / "model.json").read_text())
    assert (manifest["format"], manifest["version"], manifest["method"]) == ("rankae-model", 1, "toy")
    assert {"rankae", "python", "numpy"} <= manifest["libraries"].keys()
    for name, record in manifest["files"].items():
        content = (place / name).read_bytes()
        assert record == {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    np.testing.assert_array_equal(load_file(place / "model.safetensors")["codes"], toy["arrays"]["codes"])


def test_numpy_scalars_come_back_equal_and_hash_alike(tmp_path, write):
    names = [np.int64(3), np.float32(0.1), np.str_("a"), np.bool_(True), (np.int8(1), "x")]
    found = read_model(write(tmp_path / "model", tables={"labels": names})).tables["labels"]
    assert found == names
    assert [hash(name) for name in found] == [hash(name) for name in names]


@pytest.mark.parametrize("name", [b"raw", date(2020, 1, 1), 1j, frozenset("a"), ("fine", b"not")])
def test_a_label_that_json_cannot_express_is_named(tmp_path, name, write):
    with pytest.raises(ModelFileError, match="entry 1 of labels is .* cannot hold"):
        write(tmp_path / "model", tables={"labels": ["fine", name]})
    assert not list(tmp_path.iterdir())


def test_settings_that_json_cannot_express_are_named(tmp_path, write):
    with pytest.raises(ModelFileError, match=r"settings\.parameters\.random_state is RandomState"):
        write(tmp_path / "model", settings={"parameters": {"random_state": np.random.RandomState(0)}})
    with pytest.raises(ModelFileError, match="the key 1"):
        write(tmp_path / "model", settings={"weights": {1: 2}})
    with pytest.raises(ModelFileError, match="array names holds <U1"):
        write(tmp_path / "model", arrays={"names": np.array(["a"])})


def test_arrays_are_writable_views_that_never_reach_the_file(place, toy):
    before = (place / "model.safetensors").read_bytes()
    codes = read_model(place).arrays["codes"]
    assert not codes.flags.owndata
    codes[:] = -1
    assert (place / "model.safetensors").read_bytes() == before
    np.testing.assert_array_equal(read_model(place).arrays["codes"], toy["arrays"]["codes"])


def test_arrays_outlive_the_folder_they_came_from(place, write, toy):
    codes = read_model(place).arrays["codes"]
    write(place, arrays={})
    np.testing.assert_array_equal(codes, toy["arrays"]["codes"])
