"""Models that somebody changed and whose hashes were made right again: refused in one sentence, or they answer.

Each forgery is opened and asked in a process of its own. What must not happen: a crash of compiled code, an answer that
never comes, a traceback. `make fuzz` tries hundreds for each method; here are a few, the same at every run.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from rankae.errors import RankaeError
from rankae.methods import METHODS, load, registry

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="each forgery needs a process of its own")

SECONDS = 60
INDEXED = "rank-ae with an index"  # whose graph a native library walks
SMALL = {
    "bow-cnn": {"units": 8, "epochs": 2},
    "xml-cnn": {"dim": 8, "filters": 8, "bottleneck": 8, "epochs": 2},
    "c2ae": {"hidden": 16, "epochs": 2},
    "fasttext": {"dim": 8},
    "rank-ae": {"preset": "fast"},
    INDEXED: {"preset": "fast"},
}
# Those whose arrays compiled loops read by place. Native libraries are probed in a child process, a second each.
OWN_LOOPS = ["rank-ae", INDEXED, "fastxml", "pfastrexml", "sleec", "pdsparse", "knn", "one-vs-rest", "classifier-chain"]
NATIVE = [name for name, method in METHODS.items() if method.extra_package]
NETWORKS = ["rank-ae-paper", "bow-cnn", "xml-cnn", "c2ae"]
TEXTS = ["red apple on a table", "green apple", "red wine in a glass", "white wine"] * 12
LABELS = [["fruit", "red"], ["fruit"], ["drink", "red"], ["drink"]] * 12


@pytest.fixture(scope="module")
def model_of(tmp_path_factory):
    import torch

    torch.set_num_threads(1)  # a forked process has none of the threads that its parent's libraries wait for
    made: dict[str, Path] = {}

    def make(name: str) -> Path:
        if name not in made:
            method = "rank-ae" if name == INDEXED else name
            if package := "usearch" if name == INDEXED else METHODS[name].extra_package:
                pytest.importorskip(package)
            made[name] = tmp_path_factory.mktemp("models") / method
            model = registry.create(method, **SMALL.get(name, {})).fit(TEXTS, LABELS)
            if name == INDEXED:
                model.build_index()
            model.save(made[name])
            load(made[name]).predict_top(TEXTS[:2], 2)  # kernels are compiled before processes are forked
        return made[name]

    return make


def forged(model: Path, place: Path, random: np.random.Generator) -> str:
    """A copy with one array or one setting changed and all hashes right; returns what was changed."""
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(model, place)
    manifest = json.loads((place / "model.json").read_text())
    del manifest["sha256"]
    if random.random() < 0.25:
        told = _change_a_setting(manifest["settings"], random)
    else:
        arrays = load_file(place / "model.safetensors")
        name = str(random.choice(sorted(arrays)))
        arrays[name], how = _changed(arrays[name], random)
        save_file({key: np.ascontiguousarray(value) for key, value in arrays.items()}, place / "model.safetensors")
        told = f"{name}: {how}"
    for name, recorded in manifest["files"].items():
        content = (place / name).read_bytes()
        recorded |= {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    text = json.dumps(manifest, sort_keys=True, separators=(",", ":"))
    manifest["sha256"] = hashlib.sha256(text.encode()).hexdigest()
    (place / "model.json").write_text(json.dumps(manifest))
    return told


def _changed(array: np.ndarray, random: np.random.Generator) -> tuple[np.ndarray, str]:
    way = random.integers(7)
    flat = array.reshape(-1).copy()
    if way == 0 or not flat.size:
        return np.concatenate([flat, flat[:1], flat[:1]]), "longer and flat"
    if way == 1:
        return flat[: flat.size // 2], "cut"
    if way == 2:
        return array.astype(np.float64 if array.dtype.kind in "iub" else np.int32), "another type"
    if way == 3 and array.dtype.kind == "f":
        flat[random.integers(flat.size)] = random.choice([np.nan, np.inf, -np.inf])
        return flat.reshape(array.shape), "not finite"
    if way == 4:
        return np.zeros((2, *array.shape), array.dtype), "another shape"
    if array.dtype.kind == "b":
        return ~array, "inverted"
    limits = np.iinfo(array.dtype) if array.dtype.kind in "iu" else np.finfo(array.dtype)
    value = [limits.max, limits.min, -1, flat.size * 10, 0][random.integers(5)]
    flat[random.integers(flat.size, size=max(1, flat.size // 10))] = np.array(value).astype(array.dtype)
    return flat.reshape(array.shape), f"some are {value}"


def _change_a_setting(settings: dict, random: np.random.Generator) -> str:
    places = []

    def walk(value, path):
        for key, own in value.items() if isinstance(value, dict) else enumerate(value):
            places.append((value, key, [*path, key]))
            if isinstance(own, dict | list):
                walk(own, [*path, key])

    walk(settings, [])
    owner, key, path = places[random.integers(len(places))]
    owner[key] = [None, -1, 10**9, "../../x", [], {}, 1e308, True][random.integers(8)]
    return f"setting {path} = {owner[key]!r}"


def outcome(place: Path) -> str:
    """How opening a model and asking it ends, in a process of its own."""
    child = os.fork()
    if child == 0:
        code = 3
        try:
            sys.stderr = open(os.devnull, "w")  # noqa: SIM115
            model = load(place)
            model.predict_top(["red wine", "an apple", ""], 3)
            code = 0
        except RankaeError as error:
            code = 0 if "\n" not in str(error) else 4
        except BaseException:
            import traceback

            (place / "traceback").write_text(traceback.format_exc())
        finally:
            os._exit(code)
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            if os.WIFSIGNALED(status):
                return f"crash (signal {os.WTERMSIG(status)})"
            ended = {0: "sound", 3: "traceback", 4: "a sentence of several lines"}
            return ended.get(os.WEXITSTATUS(status), f"exit {os.WEXITSTATUS(status)}")
        time.sleep(0.005)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "hang"


def try_all(model: Path, folder: Path, count: int, seed: int) -> list[str]:
    wrong = []
    for number in range(count):
        told = forged(model, folder / "forged", np.random.default_rng([seed, number]))
        if (ended := outcome(folder / "forged")) != "sound":
            trace = folder / "forged" / "traceback"
            last = trace.read_text().splitlines()[-3:] if trace.exists() else []
            wrong.append(f"{number}: {told} -> {ended} {' '.join(last)}")
    return wrong


@pytest.mark.parametrize("name", OWN_LOOPS)
def test_a_forged_model_is_refused_or_answers(name, model_of, tmp_path):
    assert try_all(model_of(name), tmp_path, 12, seed=1) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", OWN_LOOPS + NETWORKS)
def test_hundreds_of_forgeries(name, model_of, tmp_path):
    assert try_all(model_of(name), tmp_path, int(os.environ.get("FORGERIES", "150")), seed=2) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", NATIVE)
def test_forgeries_of_native_files(name, model_of, tmp_path):
    assert try_all(model_of(name), tmp_path, int(os.environ.get("FORGERIES", "150")) // 5, seed=3) == []
