"""`--set key=value`: a method's parameters from the command line, checked against their types before any work."""

from __future__ import annotations

import types
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from rankae.errors import RankaeError
from rankae.literals import literal


def parse_settings(pairs: Sequence[str]) -> dict[str, Any]:
    """{"epochs": 5} from ["epochs=5"]; a value that is no Python literal is a string.

    >>> parse_settings(["epochs=5", "attention=false", "loss=bce", "ngrams=(1, 2)"])
    {'epochs': 5, 'attention': False, 'loss': 'bce', 'ngrams': (1, 2)}
    """
    found: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.strip().isidentifier():
            raise RankaeError(f"--set takes key=value, but was given {pair!r}")
        found[name.strip().replace("-", "_")] = literal(value)
    return found


def check_types(method: str, ranker: type, settings: dict[str, Any]) -> None:
    """Refuse a value that the type of its parameter rules out."""
    hints = get_type_hints(ranker.__init__)  # type: ignore[misc]
    for name, value in settings.items():
        if name in hints and not _fits(value, hints[name]):
            raise RankaeError(f"{method}: {name} cannot be {value!r}; it takes {_told(hints[name])}")


def _fits(value: Any, hint: Any) -> bool:
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        return any(_fits(value, part) for part in get_args(hint))
    if origin is Literal:
        return value in get_args(hint)
    if hint is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool)
    if hint is Path:
        return isinstance(value, str | Path)
    kind = origin or hint
    return isinstance(value, kind) if isinstance(kind, type) else True


def _told(hint: Any) -> str:
    """A type in a user's words."""
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        return " or ".join(_told(part) for part in get_args(hint))
    if origin is Literal:
        return " or ".join(repr(choice) for choice in get_args(hint))
    names = {int: "a whole number", float: "a number", bool: "true or false", str: "a name", type(None): "none"}
    return names.get(hint, str(getattr(hint, "__name__", hint)))
