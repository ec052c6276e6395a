"""Faults with real processes: workers killed, hanging, out of disk; the driver killed and started again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankae import RankAE, load
from rankae.cluster import ClusterWorkers, connected
from rankae.data import load_dataset, make_dataset, write_dataset
from rankae.errors import RankaeError
from rankae.numerics.shards import even_spans, sharing

pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    sys.path.insert(0, str(Path(__file__).parent))  # for the workers, which begin with this path
    try:
        with connected("local:2") as found:
            yield found
    finally:
        sys.path.pop(0)


def doubled_by(workers: ClusterWorkers, folder: Path, fault: str, always: bool = False) -> np.ndarray:
    from faulty_work import doubled

    marks = folder / "marks"
    marks.mkdir()
    settings = {"fault": fault, "marks": str(marks), "always": always}
    shared = {"numbers": np.arange(12, dtype=np.float32)}
    return np.concatenate([own["twice"] for own in workers.map("double", doubled, shared, settings, even_spans(12, 4))])


@pytest.mark.parametrize("fault", ["killed", "disk full", "hangs"])
def test_a_worker_in_trouble_once(client, tmp_path, fault):
    workers = ClusterWorkers(client, tmp_path, patience=2.0)
    np.testing.assert_array_equal(doubled_by(workers, tmp_path, fault), 2 * np.arange(12))
    assert workers.computed == 4
    if fault == "hangs":
        client.restart()  # the one that sleeps would take part in the tests to come


def test_trouble_that_stays_is_one_sentence(client, tmp_path):
    workers = ClusterWorkers(client, tmp_path)
    with pytest.raises(RankaeError, match="could not finish double 0 to 3: No space left on device; what is finished"):
        doubled_by(workers, tmp_path, "disk full", always=True)


def test_a_worker_killed_in_each_phase(client, tmp_path):
    train, test = make_dataset(rows=500, labels=60, features=400, test_rows=30, text=False)
    expected = RankAE("fast", threads=1).fit_dataset(train).predict_top(test.features, 5)
    workers = ClusterWorkers(client, tmp_path, least=0)
    killed: set[str] = set()

    def kill_in_each_phase(step: str) -> None:
        if step not in killed:
            killed.add(step)
            pids = [worker["pid"] for worker in client.run(lambda: {"pid": os.getpid()}).values()]
            threading.Timer(0.05, os.kill, (pids[0], signal.SIGKILL)).start()

    original = workers.map

    def map(step: str, *arguments: Any) -> Any:
        kill_in_each_phase(step)
        return original(step, *arguments)

    workers.map = map  # type: ignore[method-assign]
    with sharing(workers):
        model = RankAE("fast", threads=1).fit_dataset(train)
    assert killed == {"ridge", "neighbours", "rankers"}
    for own, other in zip(expected, model.predict_top(test.features, 5), strict=True):
        np.testing.assert_array_equal(own, other)


@pytest.mark.slow
def test_the_driver_killed_and_started_again(tmp_path):
    train, test = make_dataset(rows=600, labels=300, features=800, test_rows=30, text=False)
    write_dataset(train, tmp_path / "train.txt")
    command = [sys.executable, str(Path(__file__).parent / "driver.py"), str(tmp_path / "train.txt"), str(tmp_path)]
    manifest = tmp_path / "cluster" / "manifest.jsonl"
    first = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 240
    while not (manifest.exists() and len(manifest.read_text().splitlines()) >= 3) and time.monotonic() < deadline:
        assert first.poll() is None, "it was over before it could be killed"
        time.sleep(0.01)
    first.kill()
    first.wait()
    finished = len(manifest.read_text().splitlines())
    assert not (tmp_path / "model").exists()
    second = subprocess.run(command, capture_output=True, text=True, check=True)
    facts = json.loads(second.stdout.splitlines()[-1])
    # What a finished step has kept is not even asked for again; a last line may have been cut off.
    assert facts["found"] >= 1
    assert facts["computed"] > 0
    assert len(manifest.read_text().splitlines()) <= finished + 1 + facts["computed"]
    alone = RankAE("fast", tuning=False, threads=1).fit_dataset(load_dataset(str(tmp_path / "train.txt")))
    again = load(tmp_path / "model")
    for own, other in zip(alone.predict_top(test.features, 5), again.predict_top(test.features, 5), strict=True):
        np.testing.assert_array_equal(own, other)
