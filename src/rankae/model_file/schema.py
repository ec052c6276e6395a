"""What the arrays of a model must be, declared once for each method and checked before any compiled code reads them.

Hashes tell damage; somebody who forges a model makes them right again. So every place that a loop will read is checked
to lie within its array: names, kinds, shapes, ranges, starts that rise, numbers that are finite.
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
    kinds : numpy's letters of the kinds that it may have: "f" floats, "iu" whole numbers, "b" booleans.
    shape : the length of each side: a number; a name, which stands for the same length wherever it occurs, and may end
        in "+1"; or None for any length.
    below : whole numbers must lie from `least` to below this size.
    starts_of : the array into which these numbers point: they rise from 0 to its length.
    """

    kinds: str
    shape: tuple[Length, ...]
    below: Length = None
    least: int = 0
    starts_of: str | None = None


def csr(rows: Length, columns: Length, prefix: str = "", names: tuple[str, str, str] | None = None) -> dict[str, Array]:
    """The three arrays of a CSR matrix of this shape; `names` of starts, columns and values, if they are others."""
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
    """Refuse arrays that are not as declared; `sizes` are the lengths that are known from elsewhere."""
    known = dict(sizes)
    for name, wanted in schema.items():
        if name not in arrays:
            raise ModelFileError(f"the model lacks its array {name}; train it again")
        array = arrays[name]
        if array.dtype.kind not in wanted.kinds or array.ndim != len(wanted.shape):
            raise _wrong(name, f"holds {array.ndim}-dimensional {array.dtype}")
        for side, length in zip(wanted.shape, array.shape, strict=True):
            if side is not None and _length(side, length, known) != length:
                raise _wrong(name, f"has the shape {array.shape}")
    for name, wanted in schema.items():
        array = arrays[name]
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise _wrong(name, "holds numbers that are not finite")
        if wanted.starts_of is not None:
            rises = len(array) > 0 and array[0] == 0 and bool((array[1:] >= array[:-1]).all())
            if not rises or array[-1] != len(arrays[wanted.starts_of]):
                raise _wrong(name, f"does not rise from 0 to the length of {wanted.starts_of}")
        if wanted.below is not None and array.size:
            most = known[wanted.below] if isinstance(wanted.below, str) else wanted.below
            if int(array.min()) < wanted.least or int(array.max()) >= most:
                raise _wrong(name, f"points outside {wanted.least} to {most - 1}")


def _length(side: int | str, found: int, known: dict[str, int]) -> int:
    """The length that a side must have; a name that is new takes the length that is found."""
    if isinstance(side, int):
        return side
    name, more = (side[:-2], 1) if side.endswith("+1") else (side, 0)
    return known.setdefault(name, max(0, found - more)) + more


def _wrong(name: str, what: str) -> ModelFileError:
    return ModelFileError(f"the model's array {name} {what}, which no model of this method has; train it again")


def check_facts(settings: Mapping[str, Any], labels: int) -> None:
    """Refuse settings that every model has, where they are not what a model writes."""
    whole = {"most_labels": max(1, labels), "features": 2**31, "training_rows": 2**40}
    for name, most in whole.items():
        value = settings[name]
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
            raise ModelFileError(f"the model's {name} is {value!r}, which no model has; train it again")
    if settings["kind"] not in ("indicator", "lists", "single"):
        raise ModelFileError(f"the model's kind of labels is {settings['kind']!r}; train it again")
    if not isinstance(settings["threshold"], float | int) or settings["threshold"] != settings["threshold"]:
        raise ModelFileError(f"the model's threshold is {settings['threshold']!r}, no number; train it again")
