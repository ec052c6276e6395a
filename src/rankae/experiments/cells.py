"""Cells, each one measurement, and the store that holds every finished cell in a file of its own."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from rankae.data.writing import written

# The result of a cell as JSON values: "status", then "reason" or figures (see `measure`). The status is "done",
# "cannot" (the method refuses this data), or "failed" (it crashed, or took too much time or memory).
Result: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Cell:
    """One method on one data set with one seed.

    data : folder, file or known name.
    method : its name in the registry (not the name that tables show), so that experiments share cells.
    parameters : given to the method, over its defaults.
    noise : kind and rate of label noise on 80 % of the training rows; the other 20 % are then for validation only.
    trials : if above 0, the cell is a search for good parameters with so many trials, on the 20 % validation rows.
    k : places at which to measure.
    reading : options of `load_dataset`, such as text_column, for data whose columns do not have the usual names.
    """

    data: str
    method: str
    parameters: dict[str, Any] = field(default_factory=dict)
    seed: int = 0
    noise: tuple[str, float] | None = None
    trials: int = 0
    k: tuple[int, ...] = (1, 3, 5)
    reading: dict[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """A readable, unique file name, which ends in a hash of all fields."""
        differing = {name: value for name, value in asdict(self).items() if name != "reading" or value}
        whole = json.dumps(differing, sort_keys=True, default=str)
        noise = f"{self.noise[0]}{self.noise[1]:g}" if self.noise else ""
        words = [data_name(self.data), self.method, noise, f"tune{self.trials}" if self.trials else f"seed{self.seed}"]
        readable = ".".join(re.sub(r"[^\w+-]+", "-", word) for word in words if word)
        return f"{readable}.{hashlib.sha256(whole.encode()).hexdigest()[:10]}"

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Cell:
        values = json.loads(text)
        noise = values["noise"]
        return cls(**{**values, "k": tuple(values["k"]), "noise": None if noise is None else (noise[0], noise[1])})


class Store:
    """Finished cells in a folder: KEY.json with figures, KEY.npz with the measures of every test row."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    def find(self, cell: Cell) -> Result | None:
        """The cell's result, or None if it was not run."""
        try:
            return json.loads((self.folder / f"{cell.key}.json").read_text())
        except (FileNotFoundError, json.JSONDecodeError):
            return None

    def keep(self, cell: Cell, result: Result, rows: dict[str, np.ndarray] | None = None) -> None:
        """Write the rows, then the result, so that a cell with a JSON file is complete."""
        if rows is not None:
            with written(self._rows_file(cell)) as stream:
                np.savez_compressed(stream, **rows)  # type: ignore[arg-type]
        with written(self.folder / f"{cell.key}.json") as stream:
            stream.write(json.dumps({"cell": asdict(cell), **result}, indent=1).encode())

    def rows(self, cell: Cell) -> dict[str, np.ndarray]:
        """Each measure's share of every test row; the mean over rows is the measure."""
        with np.load(self._rows_file(cell), allow_pickle=False) as arrays:
            return dict(arrays)

    def forget(self, cell: Cell) -> None:
        """Remove a cell, for example after a change to its method's code."""
        for ending in (".json", ".npz", ".study"):
            (self.folder / (cell.key + ending)).unlink(missing_ok=True)

    def study_file(self, cell: Cell) -> Path:
        """The file of a search's trials, from which it resumes."""
        self.folder.mkdir(parents=True, exist_ok=True)
        return self.folder / f"{cell.key}.study"

    def _rows_file(self, cell: Cell) -> Path:
        return self.folder / f"{cell.key}.npz"


def data_name(source: str) -> str:
    """What tables call a data set: the last part of its path, without endings of files."""
    name = Path(source).name or Path(source).resolve().name
    return re.sub(r"(\.(txt|csv|tsv|jsonl?|npz|parquet|gz|xz|zst|svm))+$", "", name)
