from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rankae.experiments.cells import Cell, Store, data_name

CELL = Cell("some/folder", "knn", {"neighbours": 5}, seed=1, noise=("missing", 0.2))


@pytest.mark.parametrize(
    "change",
    [
        {"data": "other/folder"},
        {"method": "popular"},
        {"parameters": {"neighbours": 6}},
        {"seed": 2},
        {"noise": ("missing", 0.3)},
        {"noise": None},
        {"trials": 5},
        {"k": (1, 2)},
    ],
)
def test_cells_that_differ_in_anything_have_files_of_their_own(change: dict) -> None:
    assert replace(CELL, **change).key != CELL.key


def test_a_cell_survives_the_way_to_another_process() -> None:
    assert Cell.from_json(CELL.to_json()) == CELL
    assert Cell.from_json(CELL.to_json()).key == CELL.key


def test_what_is_kept_is_found_again(tmp_path: Path) -> None:
    store = Store(tmp_path / "cells")
    assert store.find(CELL) is None
    store.keep(CELL, {"status": "done"}, {"P@1": np.array([100.0, 0.0], dtype=np.float32)})
    found = store.find(CELL)
    assert found is not None
    assert found["status"] == "done"
    assert store.rows(CELL)["P@1"].tolist() == [100.0, 0.0]
    assert sorted(p.suffix for p in (tmp_path / "cells").iterdir()) == [".json", ".npz"]  # nothing half-written is left


def test_a_cell_can_be_forgotten(tmp_path: Path) -> None:
    store = Store(tmp_path)
    other = replace(CELL, method="popular")
    for cell in (CELL, other):
        store.keep(cell, {"status": "done"}, {"P@1": np.zeros(2)})
    store.forget(CELL)
    assert store.find(CELL) is None
    assert store.find(other) is not None
    assert len(list(tmp_path.iterdir())) == 2


def test_a_damaged_file_counts_as_not_run(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.keep(CELL, {"status": "done"})
    (tmp_path / f"{CELL.key}.json").write_text('{"status": "do')
    assert store.find(CELL) is None


@pytest.mark.parametrize(
    ("source", "name"), [("bibtex", "bibtex"), ("a/b/", "b"), ("a/films.jsonl.xz", "films"), ("v1.2", "v1.2")]
)
def test_data_is_called_by_the_last_part_of_its_path(source: str, name: str) -> None:
    assert data_name(source) == name
