"""Two tiny data sets on disk, one of texts and one of features, and a way to run cells within the test's process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rankae.data import make_dataset, write_dataset
from rankae.data.writing import write_names
from rankae.experiments.plan import Running


def write_folder(folder: Path, text: bool, rows: int = 200) -> str:
    train, test = make_dataset(rows, labels=20, features=300, test_rows=60, text=text, seed=1)
    ending = "jsonl" if text else "txt"
    write_dataset(train, folder / f"train.{ending}")
    write_dataset(test, folder / f"test.{ending}")
    write_names(train.label_names or [], folder / "labels.txt")
    return str(folder)


@pytest.fixture(scope="session")
def texts(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write_folder(tmp_path_factory.mktemp("experiments") / "texts", text=True)


@pytest.fixture(scope="session")
def matrix(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write_folder(tmp_path_factory.mktemp("experiments") / "matrix", text=False)


@pytest.fixture
def ran() -> list[tuple[str, str]]:
    """(method, status) of every cell that was really run."""
    return []


@pytest.fixture
def here(tmp_path: Path, ran: list[tuple[str, str]]) -> Callable[..., Running]:
    def running(**options: Any) -> Running:
        def tell(cell: Any, result: Any) -> None:
            ran.append((cell.method, result["status"]))

        return Running(tmp_path / "out", isolate=False, tell=tell, **options)

    return running
