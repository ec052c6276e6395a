"""Tables of one row of numbers for each word or label, as float32, float16 or int8.

Whoever reads rows gets float32. Compiled loops read `stored` and `scales` and convert number by number, so that a small
table stays small in memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rankae.errors import RankaeError

PRECISIONS = ("float32", "float16", "int8")
_LARGEST_HALF = 65504.0
_NO_SCALES = np.empty(0, dtype=np.float32)


class Table:
    """values [rows, width]; of int8, a row's scale says what a step of 1 is worth, and other tables have no scales."""

    def __init__(self, values: np.ndarray, scales: np.ndarray | None = None) -> None:
        self.values = np.ascontiguousarray(values)
        self.scales = _NO_SCALES if scales is None else scales

    @classmethod
    def at(cls, precision: str, values: Any) -> Table:
        """Float32 rows at another precision."""
        values = np.asarray(values, dtype=np.float32)
        largest = np.abs(values).max(axis=1, initial=0) if precision == "int8" else _NO_SCALES
        return cls(*_rounded(precision, values, largest, (slice(None), None)))

    @property
    def stored(self) -> np.ndarray:
        """The values as `kernels.small_numbers.number` reads them."""
        return _as_stored(self.values)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.values.shape

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, rows: Any) -> np.ndarray:
        """Some rows, float32."""
        values = self.values[rows].astype(np.float32, copy=False)
        return values * self.scales[rows][..., None] if len(self.scales) else values

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self[:], dtype=dtype)


class RaggedTable:
    """Rows of different lengths: row i has values[starts[i]:starts[i + 1]]. Precisions are those of `Table`."""

    def __init__(self, starts: np.ndarray, values: np.ndarray, scales: np.ndarray | None = None) -> None:
        self.starts, self.values = starts.astype(np.int64, copy=False), values
        self.scales = _NO_SCALES if scales is None else scales

    def at(self, precision: str) -> RaggedTable:
        values, lengths, largest = np.asarray(self), np.diff(self.starts), _NO_SCALES
        rows = np.repeat(np.arange(len(lengths)), lengths)
        if precision == "int8":
            largest = np.zeros(len(lengths), dtype=np.float32)
            np.maximum.at(largest, rows, np.abs(values))
        return RaggedTable(self.starts, *_rounded(precision, values, largest, rows))

    @property
    def stored(self) -> np.ndarray:
        """The values as `kernels.small_numbers.number` reads them."""
        return _as_stored(self.values)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        values = self.values.astype(np.float32, copy=False)
        if len(self.scales):
            values = values * np.repeat(self.scales, np.diff(self.starts))
        return np.asarray(values, dtype=dtype)


def as_table(values: np.ndarray | Table) -> Table:
    return values if isinstance(values, Table) else Table(values)


def packed(arrays: dict[str, Any]) -> dict[str, np.ndarray]:
    """Tables among `arrays` as the arrays that they consist of."""
    out: dict[str, np.ndarray] = {}
    for name, value in arrays.items():
        if isinstance(value, Table):
            out[name] = value.values
            if len(value.scales):
                out[f"{name}.scales"] = value.scales
        else:
            out[name] = value
    return out


def unpacked(arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """What `packed` was given, but for tables of float32, which are plain arrays."""
    out: dict[str, Any] = dict(arrays)
    for name, value in arrays.items():
        if value.dtype in (np.float16, np.int8) and value.ndim == 2:
            out[name] = Table(value, out.pop(f"{name}.scales", None))
    return out


def _rounded(precision: str, values: np.ndarray, largest: np.ndarray, row_of: Any) -> tuple[np.ndarray, Any]:
    """Values and scales. The largest number of a row of int8 becomes 127: rounding costs at most 1/254 of it."""
    if precision == "float32":
        return values, None
    if precision == "float16":
        return np.clip(values, -_LARGEST_HALF, _LARGEST_HALF).astype(np.float16), None
    if precision == "int8":
        scales = np.where(largest > 0, largest / 127, 1).astype(np.float32)
        return np.rint(values / scales[row_of]).astype(np.int8), scales
    raise RankaeError(f"tables can be {', '.join(PRECISIONS)}, not {precision!r}")


def _as_stored(values: np.ndarray) -> np.ndarray:
    return values.view(np.uint16) if values.dtype == np.float16 else values  # numba reads float16 by its bits
