"""Three hosts with a shared folder, of which one is cut off in the middle of training, then of prediction."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from rankae import RankAE, load
from rankae.data import load_dataset, make_dataset, write_dataset

pytest.importorskip("distributed")
sys.path.insert(0, str(Path(__file__).parent))
from three_hosts import ADDRESSES, ThreeHosts, why_not

sys.path.pop(0)

pytestmark = pytest.mark.slow
SCHEDULER = f"tcp://{ADDRESSES[0]}:8786"
# A host that says nothing for so long is given up; less, and one that is only busy is given up too.
SILENCE = {
    "DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "60s",
    "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "60s",
    "DASK_DISTRIBUTED__COMM__TIMEOUTS__TCP": "60s",
}
ALL_THERE = f"from distributed import Client; Client('{SCHEDULER}', timeout=500).wait_for_workers(3, timeout=500)"
QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


@pytest.fixture
def hosts() -> Iterator[ThreeHosts]:
    if reason := why_not():
        pytest.skip(reason)
    with ThreeHosts() as found:
        dask = sys.executable, "-m", "dask"
        found.run(0, *dask, "scheduler", "--host", ADDRESSES[0], "--no-dashboard", env=os.environ | SILENCE, **QUIET)
        for host, address in enumerate(ADDRESSES):
            how = "--host", address, "--nthreads", "1", "--no-nanny", "--no-dashboard", "--local-directory", "/tmp"
            found.run(host, *dask, "worker", SCHEDULER, *how, env=os.environ | SILENCE, **QUIET)
        assert found.run(0, sys.executable, "-c", ALL_THERE, env=os.environ | SILENCE).wait(timeout=600) == 0
        yield found


def cut_off_once(hosts: ThreeHosts, host: int, begun: Callable[[], bool], process: subprocess.Popen[str]) -> str:
    """What the process prints; the host is cut off as soon as work has begun."""
    deadline = time.monotonic() + 600
    while not begun() and time.monotonic() < deadline:
        assert process.poll() is None, "it was over before a host could be cut off"
        time.sleep(0.01)
    hosts.cut_off(host)
    output, _ = process.communicate(timeout=600)
    assert process.returncode == 0
    return output


def lines_of(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def test_training_goes_on_without_a_host_that_is_cut_off(hosts: ThreeHosts, tmp_path: Path) -> None:
    train, test = make_dataset(rows=600, labels=300, features=800, test_rows=30, text=False)
    write_dataset(train, tmp_path / "train.txt")
    driver = str(Path(__file__).parent / "driver.py"), str(tmp_path / "train.txt"), str(tmp_path), SCHEDULER
    process = hosts.run(0, sys.executable, *driver, env=os.environ | SILENCE, stdout=subprocess.PIPE)
    manifest = tmp_path / "cluster" / "manifest.jsonl"
    facts = json.loads(cut_off_once(hosts, 2, lambda: len(lines_of(manifest)) >= 2, process).splitlines()[-1])
    assert facts["computed"] > 2
    alone = RankAE("fast", tuning=False, threads=1).fit_dataset(load_dataset(str(tmp_path / "train.txt")))
    for own, other in zip(
        alone.predict_top(test.features, 5), load(tmp_path / "model").predict_top(test.features, 5), strict=True
    ):
        np.testing.assert_array_equal(own, other)


def test_prediction_goes_on_without_a_host_that_is_cut_off(hosts: ThreeHosts, tmp_path: Path) -> None:
    train, test = make_dataset(rows=300, labels=30, test_rows=400)
    write_dataset(test, tmp_path / "test.jsonl")
    RankAE("fast", threads=1).fit_dataset(train).save(tmp_path / "model")
    rankae = sys.executable, "-m", "rankae", "predict", str(tmp_path / "model"), str(tmp_path / "test.jsonl")
    alone, shared = tmp_path / "alone.jsonl", tmp_path / "shared.jsonl"
    batch = "--batch", "8"  # products of other shapes round otherwise
    subprocess.run([*rankae, "-o", str(alone), *batch], check=True, env=os.environ | {"OMP_NUM_THREADS": "1"})
    how = "--cluster", SCHEDULER, *batch
    process = hosts.run(0, *rankae, "-o", str(shared), *how, env=os.environ | SILENCE, stdout=subprocess.PIPE)
    manifest = tmp_path / "shared.jsonl.parts" / "manifest.jsonl"
    cut_off_once(hosts, 2, lambda: len(lines_of(manifest)) >= 2, process)
    assert shared.read_text() == alone.read_text()
