"""The paper's network on several processes: the same network but for rounding, and one that goes on after a death."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from rankae.paper.joint import train_joint

HERE = Path(__file__).parent


def on_ranks(folder: Path, processes: int, label_shards: int, dying: bool = False) -> dict[str, np.ndarray]:
    folder.mkdir()
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(processes)]
    command += ["--max-restarts", "1", "--monitor-interval", "0.2", str(HERE / "ranks.py"), str(folder)]
    command += [str(label_shards), *(["dying"] if dying else [])]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stderr[-3000:]
    return dict(np.load(folder / "found.npz"))


@pytest.fixture(scope="module")
def ranks():
    sys.path.insert(0, str(HERE))
    try:
        import ranks

        return ranks
    finally:
        sys.path.pop(0)


@pytest.fixture(scope="module")
def alone(ranks):
    rows, labels, test = ranks.data()
    torch.manual_seed(0)
    return train_joint(rows, labels, ranks.settings()).top(test, 5)


def test_labels_in_two_shards_give_the_same_network(alone, tmp_path):
    found = on_ranks(tmp_path / "one", 2, label_shards=2)
    np.testing.assert_allclose(found["scores"], alone[1], atol=2e-3)
    assert (found["columns"] == alone[0]).mean() > 0.97  # scores that are nearly equal may change places
    assert found["epochs"] == 3


@pytest.mark.slow
def test_a_process_that_dies_is_started_again_and_the_same_comes_out(tmp_path):
    without = on_ranks(tmp_path / "without", 2, label_shards=2)
    died = on_ranks(tmp_path / "died", 2, label_shards=2, dying=True)
    assert (tmp_path / "died" / "died").exists()
    np.testing.assert_array_equal(died["scores"], without["scores"])
    np.testing.assert_array_equal(died["columns"], without["columns"])


@pytest.mark.slow
def test_rows_and_labels_shared_out_at_once(alone, tmp_path):
    found = on_ranks(tmp_path / "both", 4, label_shards=2)
    again = on_ranks(tmp_path / "again", 4, label_shards=2)
    np.testing.assert_array_equal(found["scores"], again["scores"])
    assert np.isfinite(found["scores"]).all()
    assert (found["columns"][:, 0] == alone[0][:, 0]).mean() > 0.5
