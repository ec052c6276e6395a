"""JSON extended by tuples and non-finite numbers.

A tuple is written as {"__tuple__": [...]} and inf or nan as {"__float__": "inf"}; numpy's numbers and strings become
Python's, which are equal to them and hash alike. Nothing in a file can name a class, so reading one runs no code.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from typing import Any

import numpy as np

from rankae.errors import ModelFileError

TUPLE, FLOAT = "__tuple__", "__float__"


def to_json(value: Any, where: str) -> Any:
    """`value` in JSON types; `where` names it in error messages."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {FLOAT: repr(float(value))}
    if isinstance(value, tuple):
        return {TUPLE: [to_json(part, where) for part in value]}
    if isinstance(value, list):
        return [to_json(part, where) for part in value]
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str) or key in (TUPLE, FLOAT):
                raise ModelFileError(f"{where} has the key {key!r}, which a model file cannot hold; use plain strings")
        return {key: to_json(part, f"{where}.{key}") for key, part in value.items()}
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise ModelFileError(
        f"{where} is {_short(value)}, a {type(value).__name__}, which a model file cannot hold; "
        "use strings, numbers, booleans, None or tuples of them"
    )


def from_json(value: Any) -> Any:
    """The inverse of `to_json`."""
    if isinstance(value, list):
        return [from_json(part) for part in value]
    if isinstance(value, dict):
        if value.keys() == {TUPLE}:
            return tuple(from_json(part) for part in value[TUPLE])
        if value.keys() == {FLOAT}:
            return float(value[FLOAT])
        return {key: from_json(part) for key, part in value.items()}
    return value


def names_to_json(names: Iterable[Any], table: str) -> list[Any]:
    """A table of names, each a hashable that JSON can express."""
    return [name if type(name) is str else to_json(name, f"entry {i} of {table}") for i, name in enumerate(names)]


def names_from_json(names: list[Any]) -> list[Any]:
    """The inverse of `names_to_json`."""
    if not {dict, list} & set(map(type, names)):  # only strings and numbers: faster than a loop in Python
        return names
    return [from_json(name) for name in names]


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
