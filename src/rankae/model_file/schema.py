"""Schemas of a model's arrays, declared by each method and checked before compiled code reads the arrays.

A forged model has correct hashes, so names, kinds, shapes, ranges, the order of row starts and finiteness are checked:
no compiled loop may read outside its arrays.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankae.errors import ModelFileError

Length = int | str | None  # a number, a size by its name, or any


@dataclass(frozen=True)
class Array:
    """
    Parameters
    ----------
    kinds : allowed kinds of dtype, numpy's letters: "f" floats, "iu" integers, "b" booleans.
    shape : length of each dimension: a number; a name, which stands for the same length wherever it occurs and may end
        in "+1"; or None for any length.
    below : integers must lie between `least` and this size, exclusive.
    starts_of : the array of which these are row starts: they ascend from 0 to its length.
    """

    kinds: str
    shape: tuple[Length, ...]
    below: Length = None
    least: int = 0
    starts_of: str | None = None


def csr(rows: Length, columns: Length, prefix: str = "", names: tuple[str, str, str] | None = None) -> dict[str, Array]:
    """The arrays of a CSR matrix of this shape; `names` of starts, columns and values override those of `pack_csr`."""
    start, column, value = names or (f"{prefix}.indptr", f"{prefix}.indices", f"{prefix}.data")
    entries = f"entries of {column}"
    many: Length = f"{rows}+1" if isinstance(rows, str) else None if rows is None else rows + 1
    shape = {} if names else {f"{prefix}.shape": Array("i", (2,))}
    return shape | {
        start: Array("iu", (many,), starts_of=column),
        column: Array("iu", (entries,), below=columns),
        value: Array("fiub", (entries,)),
    }


def check_arrays(schema: Mapping[str, Array], arrays: Mapping[str, np.ndarray], sizes: dict[str, int]) -> None:
    """Refuse arrays that are not as declared; `sizes` are the named lengths that are known already."""
    lengths = dict(sizes)
    for name, declared in schema.items():
        if name not in arrays:
            raise ModelFileError(f"the model lacks its array {name}; train it again")
        array = arrays[name]
        if array.dtype.kind not in declared.kinds or array.ndim != len(declared.shape):
            raise _wrong(name, f"holds {array.ndim}-dimensional {array.dtype}")
        for side, length in zip(declared.shape, array.shape, strict=True):
            if side is not None and _length(side, length, lengths) != length:
                raise _wrong(name, f"has the shape {array.shape}")
    for name, declared in schema.items():
        array = arrays[name]
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise _wrong(name, "holds numbers that are not finite")
        if declared.starts_of is not None:
            rises = len(array) > 0 and array[0] == 0 and bool((array[1:] >= array[:-1]).all())
            if not rises or array[-1] != len(arrays[declared.starts_of]):
                raise _wrong(name, f"does not rise from 0 to the length of {declared.starts_of}")
        if declared.below is not None and array.size:
            most = lengths[declared.below] if isinstance(declared.below, str) else declared.below
            if int(array.min()) < declared.least or int(array.max()) >= most:
                raise _wrong(name, f"points outside {declared.least} to {most - 1}")


def _length(side: int | str, actual: int, lengths: dict[str, int]) -> int:
    """The length that a dimension must have; a new name takes the actual length."""
    if isinstance(side, int):
        return side
    name, more = (side[:-2], 1) if side.endswith("+1") else (side, 0)
    return lengths.setdefault(name, max(0, actual - more)) + more


def _wrong(name: str, what: str) -> ModelFileError:
    return ModelFileError(f"the model's array {name} {what}, which no model of this method has; train it again")


def check_facts(settings: Mapping[str, Any], labels: int) -> None:
    """Check the settings that every model has."""
    whole = {"most_labels": max(1, labels), "features": 2**31, "training_rows": 2**40}
    for name, most in whole.items():
        value = settings[name]
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
            raise ModelFileError(f"the model's {name} is {value!r}, which no model has; train it again")
    if settings["kind"] not in ("indicator", "lists", "single"):
        raise ModelFileError(f"the model's kind of labels is {settings['kind']!r}; train it again")
    if not isinstance(settings["threshold"], float | int) or settings["threshold"] != settings["threshold"]:
        raise ModelFileError(f"the model's threshold is {settings['threshold']!r}, no number; train it again")
