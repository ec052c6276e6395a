"""What all tests share: quiet threads, repeatable random examples, and the way to real data."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

# Two workers run on two cores (`pytest -n 2`): more threads than that would only wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest
from hypothesis import settings

settings.register_profile("rankae", deadline=None, derandomize=True)
settings.load_profile("rankae")


@pytest.fixture
def real_data() -> Callable[[str], Path]:
    """Gives the folder of a real data set by name, or skips the test where there is none."""

    def folder(name: str) -> Path:
        home = os.environ.get("RANKAE_DATA")
        if not home:
            pytest.skip("RANKAE_DATA is not set, so there is no real data to test on")
        found = Path(home) / name
        if not found.is_dir():
            pytest.skip(f"there is no data set {name} in {home}")
        return found

    return folder
