"""What all tests share: quiet threads, repeatable random examples, and the way to real data."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

# Two workers run on two cores (`pytest -n 2`): more threads than that would only wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest
from hypothesis import settings

# Only tests that ask for real data may see it: word vectors that lie there would change what others train. It stays in
# the environment by another name, for the workers of `pytest -n` have theirs from this process.
if "RANKAE_DATA" in os.environ:
    os.environ["RANKAE_TEST_DATA"] = os.environ.pop("RANKAE_DATA")
_REAL_DATA = os.environ.get("RANKAE_TEST_DATA")

settings.register_profile("rankae", deadline=None, derandomize=True)
settings.load_profile("rankae")


@pytest.fixture
def real_data() -> Callable[[str], Path]:
    """Gives the folder of a real data set by name, or skips the test where there is none."""

    def folder(name: str) -> Path:
        if not _REAL_DATA:
            pytest.skip("RANKAE_DATA is not set, so there is no real data to test on")
        found = Path(_REAL_DATA) / name
        if not found.is_dir():
            pytest.skip(f"there is no data set {name} in {_REAL_DATA}")
        return found

    return folder
