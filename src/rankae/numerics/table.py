"""Tables of one row of numbers for each word or label, as float32, float16 or int8.

Whoever reads rows gets float32. Compiled loops read `stored` and `scales` and convert number by number, so that a small
table stays small in memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rankae.errors import ModelFileError, RankaeError

PRECISIONS = ("float32", "float16", "int8", "int4")  # int4 in the file; in memory it is int8
_LARGEST_HALF = 65504.0
_MOST = {"int8": 127, "int4": 7}
_MANY_ZEROS = 0.8  # of the rows: with fewer that are not 0, those are stored with their places
_NO_SCALES = np.empty(0, dtype=np.float32)


class Table:
    """values [rows, width]; of int8, a row's scale says what a step of 1 is worth, and other tables have no scales.

    nibbles : no value is beyond 7, so that two of them go into a byte of the file.
    """

    def __init__(self, values: np.ndarray, scales: np.ndarray | None = None, nibbles: bool = False) -> None:
        self.values, self.nibbles = np.ascontiguousarray(values), nibbles
        self.scales = _NO_SCALES if scales is None else scales

    @classmethod
    def at(cls, precision: str, values: Any) -> Table:
        """Float32 rows at another precision."""
        values = np.asarray(values, dtype=np.float32)
        largest = np.abs(values).max(axis=1, initial=0) if precision in ("int8", "int4") else _NO_SCALES
        return cls(*_rounded(precision, values, largest, (slice(None), None)), nibbles=precision == "int4")

    @classmethod
    def at_most(cls, precision: str, values: Any) -> Table:
        """The rows at this precision, or as they are where they are smaller than that already."""
        own = "float32"
        if isinstance(values, Table):
            own = "int4" if values.nibbles else values.values.dtype.name
        return values if _rank(own) >= _rank(precision) else cls.at(precision, values)

    @property
    def stored(self) -> np.ndarray:
        """The values as `small_numbers.number` reads them."""
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
        """At this precision; int4 would gain nothing over int8 here. What is smaller already stays."""
        precision = "int8" if precision == "int4" else precision
        if _rank(self.values.dtype.name) >= _rank(precision):
            return self
        values, lengths, largest = np.asarray(self), np.diff(self.starts), _NO_SCALES
        rows = np.repeat(np.arange(len(lengths)), lengths)
        if precision == "int8":
            largest = np.zeros(len(lengths), dtype=np.float32)
            np.maximum.at(largest, rows, np.abs(values))
        return RaggedTable(self.starts, *_rounded(precision, values, largest, rows))

    @property
    def stored(self) -> np.ndarray:
        """The values as `small_numbers.number` reads them."""
        return _as_stored(self.values)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        values = self.values.astype(np.float32, copy=False)
        if len(self.scales):
            values = values * np.repeat(self.scales, np.diff(self.starts))
        return np.asarray(values, dtype=dtype)


def _rank(precision: str) -> int:
    """Smaller tables rank higher."""
    if precision not in PRECISIONS:
        raise RankaeError(f"tables can be {', '.join(PRECISIONS)}, not {precision!r}")
    return PRECISIONS.index(precision)


def as_table(values: np.ndarray | Table) -> Table:
    return values if isinstance(values, Table) else Table(values)


def packed(arrays: dict[str, Any]) -> dict[str, np.ndarray]:
    """Tables among `arrays` as the arrays that they consist of. Of a table with many rows of zeros, the others."""
    out: dict[str, np.ndarray] = {}
    for name, value in arrays.items():
        if not isinstance(value, Table):
            out[name] = value
            continue
        values, scales = value.values, value.scales
        kept = np.flatnonzero(values.any(axis=1)).astype(np.int32)
        if len(kept) < _MANY_ZEROS * len(values):
            out[f"{name}.kept"], out[f"{name}.rows"] = kept, np.array(len(values), dtype=np.int64)
            values, scales = values[kept], scales[kept] if len(scales) else scales
        if value.nibbles:
            out[f"{name}.width"] = np.array(values.shape[1], dtype=np.int64)
            even = np.pad(values, ((0, 0), (0, values.shape[1] % 2))).astype(np.uint8) & 15
            values = even[:, ::2] | even[:, 1::2] << 4
        out[name] = values
        if len(value.scales):
            out[f"{name}.scales"] = scales
    return out


def unpacked(arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """What `packed` was given, but for tables of float32, which are plain arrays."""
    out: dict[str, Any] = dict(arrays)
    for name, value in arrays.items():
        if value.ndim != 2 or not (value.dtype in (np.float16, np.int8) or f"{name}.width" in arrays):
            continue
        scales, nibbles = out.pop(f"{name}.scales", None), f"{name}.width" in arrays
        if nibbles:
            value = _of_nibbles(value, int(out.pop(f"{name}.width")))
        if f"{name}.kept" in arrays:
            value, scales = _spread(value, scales, out.pop(f"{name}.kept"), int(out.pop(f"{name}.rows")))
        out[name] = Table(value, scales, nibbles)
    return out


def _of_nibbles(pairs: np.ndarray, width: int) -> np.ndarray:
    if pairs.dtype != np.uint8 or not 2 * pairs.shape[1] - 1 <= width <= 2 * pairs.shape[1]:
        raise ModelFileError("a table of the model contradicts itself; train it again")
    values = np.empty((len(pairs), 2 * pairs.shape[1]), dtype=np.int8)
    # Shifted up and down again as signed numbers, four bits keep their sign.
    values[:, ::2], values[:, 1::2] = (pairs << 4).view(np.int8) >> 4, pairs.view(np.int8) >> 4
    return values[:, :width]


def _spread(
    values: np.ndarray, scales: np.ndarray | None, kept: np.ndarray, rows: int
) -> tuple[np.ndarray, np.ndarray | None]:
    """Rows in their places among rows of zeros."""
    if rows < len(kept) or len(kept) != len(values) or not (np.diff(kept, prepend=-1, append=rows) > 0).all():
        raise ModelFileError("a table of the model contradicts itself; train it again")
    out = np.zeros((rows, values.shape[1]), dtype=values.dtype)
    out[kept] = values
    if scales is None:
        return out, None
    all_scales = np.ones(rows, dtype=np.float32)
    all_scales[kept] = scales
    return out, all_scales


def _rounded(precision: str, values: np.ndarray, largest: np.ndarray, row_of: Any) -> tuple[np.ndarray, Any]:
    """Values and scales. The largest number of a row of int8 becomes 127, of int4 7."""
    if precision == "float32":
        return values, None
    if precision == "float16":
        return np.clip(values, -_LARGEST_HALF, _LARGEST_HALF).astype(np.float16), None
    if precision in _MOST:
        scales = np.where(largest > 0, largest / _MOST[precision], 1).astype(np.float32)
        return np.rint(values / scales[row_of]).astype(np.int8), scales
    _rank(precision)
    raise AssertionError(precision)


def _as_stored(values: np.ndarray) -> np.ndarray:
    return values.view(np.uint16) if values.dtype == np.float16 else values  # numba reads float16 by its bits
