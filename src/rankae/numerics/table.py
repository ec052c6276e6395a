"""Tables with a row for each word or label, stored as float32, float16 or int8.

Indexing returns float32. Compiled loops read `stored` and `scales` and convert number by number, so that a table of low
precision also takes little memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rankae.errors import ModelFileError, RankaeError
from rankae.numerics.ascending import pieces

PRECISIONS = ("float32", "float16", "int8", "int4")  # int4 in the file; in memory it is int8
_BLOCK = 2**16  # rows that are rounded at a time
_LARGEST_HALF = 65504.0
_MOST = {"int8": 127, "int4": 7}
_MANY_ZEROS = 0.8  # if a smaller share of the rows is not 0, only these rows are stored, with their indices
_NO_SCALES = np.empty(0, dtype=np.float32)


class Table:
    """values [rows, width]; int8 values are multiplied by the scale of their row.

    nibbles : whether all values lie within -7 and 7, so that the file stores two of them in a byte.
    """

    def __init__(self, values: np.ndarray, scales: np.ndarray | None = None, nibbles: bool = False) -> None:
        self.values, self.nibbles = np.ascontiguousarray(values), nibbles
        self.scales = _NO_SCALES if scales is None else scales

    @classmethod
    def at(cls, precision: str, values: Any) -> Table:
        """Float32 rows at another precision."""
        values = np.asarray(values, dtype=np.float32)
        if _rank(precision) == 0:
            return cls(values)
        stored = np.empty(values.shape, dtype="float16" if precision == "float16" else np.int8)
        scales = np.empty(len(values) if precision in _MOST else 0, dtype=np.float32)
        for first in range(0, len(values), _BLOCK):  # so that temporary arrays are small
            block = slice(first, first + _BLOCK)
            largest = np.abs(values[block]).max(axis=1, initial=0) if precision in _MOST else _NO_SCALES
            stored[block], scales[block] = _rounded(precision, values[block], largest, (slice(None), None))
        return cls(stored, scales, nibbles=precision == "int4")

    @classmethod
    def at_most(cls, precision: str, values: Any) -> Table:
        """The rows at this precision; unchanged if their precision is lower already."""
        precision_now = "float32"
        if isinstance(values, Table):
            precision_now = "int4" if values.nibbles else values.values.dtype.name
        return values if _rank(precision_now) >= _rank(precision) else cls.at(precision, values)

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
        """The rows at this precision (int8 for int4); unchanged if their precision is lower already."""
        precision = "int8" if precision == "int4" else precision
        if _rank(self.values.dtype.name) >= _rank(precision):
            return self
        values = np.empty(len(self.values), dtype=precision)
        scales = np.empty(len(self.starts) - 1 if precision in _MOST else 0, dtype=np.float32)
        for first, last in pieces(self.starts):
            span = slice(self.starts[first], self.starts[last])
            own = self.values[span].astype(np.float32, copy=False)
            rows, largest = np.repeat(np.arange(last - first), np.diff(self.starts[first : last + 1])), _NO_SCALES
            if precision in _MOST:
                largest = np.zeros(last - first, dtype=np.float32)
                np.maximum.at(largest, rows, np.abs(own))
            values[span], scales[first : min(last, len(scales))] = _rounded(precision, own, largest, rows)
        return RaggedTable(self.starts, values, scales)

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
    """Lower precisions rank higher."""
    if precision not in PRECISIONS:
        raise RankaeError(f"tables can be {', '.join(PRECISIONS)}, not {precision!r}")
    return PRECISIONS.index(precision)


def as_table(values: np.ndarray | Table) -> Table:
    return values if isinstance(values, Table) else Table(values)


def packed(arrays: dict[str, Any]) -> dict[str, np.ndarray]:
    """`arrays` with each table replaced by its plain arrays; rows of zeros are left out if they are many."""
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
    """The inverse of `packed`, except that float32 tables become plain arrays."""
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
        raise ModelFileError("a table of the model is inconsistent; train it again")
    values = np.empty((len(pairs), 2 * pairs.shape[1]), dtype=np.int8)
    # Shifted up and down again as signed numbers, four bits keep their sign.
    values[:, ::2], values[:, 1::2] = (pairs << 4).view(np.int8) >> 4, pairs.view(np.int8) >> 4
    return values[:, :width]


def _spread(
    values: np.ndarray, scales: np.ndarray | None, kept: np.ndarray, rows: int
) -> tuple[np.ndarray, np.ndarray | None]:
    """The rows at their indices, and zeros elsewhere."""
    if rows < len(kept) or len(kept) != len(values) or not (np.diff(kept, prepend=-1, append=rows) > 0).all():
        raise ModelFileError("a table of the model is inconsistent; train it again")
    out = np.zeros((rows, values.shape[1]), dtype=values.dtype)
    out[kept] = values
    if scales is None:
        return out, None
    all_scales = np.ones(rows, dtype=np.float32)
    all_scales[kept] = scales
    return out, all_scales


def _rounded(precision: str, values: np.ndarray, largest: np.ndarray, row_of: Any) -> tuple[np.ndarray, Any]:
    """Values and scales; the largest number of a row becomes 127 (int8) or 7 (int4)."""
    if precision == "float32":
        return values, _NO_SCALES
    if precision == "float16":
        return np.clip(values, -_LARGEST_HALF, _LARGEST_HALF).astype(np.float16), _NO_SCALES
    if precision in _MOST:
        scales = np.where(largest > 0, largest / _MOST[precision], 1).astype(np.float32)
        return np.rint(values / scales[row_of]).astype(np.int8), scales
    _rank(precision)
    raise AssertionError(precision)


def _as_stored(values: np.ndarray) -> np.ndarray:
    return values.view(np.uint16) if values.dtype == np.float16 else values  # numba reads float16 by its bits
