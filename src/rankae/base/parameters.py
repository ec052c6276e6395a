"""A method's parameters, checked against their names and types before any work."""

from __future__ import annotations

import types
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin, get_type_hints

from rankae.errors import RankaeError

if TYPE_CHECKING:
    from rankae.base.ranker import LabelRanker


def check_parameters(method: str, ranker: type[LabelRanker], settings: dict[str, Any]) -> None:
    """Refuse a parameter that the method does not have, and a value that the type of its parameter rules out."""
    known = ranker._get_param_names()
    if unknown := sorted(set(settings) - set(known)):
        raise RankaeError(f"{method} has no parameter {unknown[0]!r}; it has {', '.join(known) or 'none'}")
    hints = get_type_hints(ranker.__init__)
    for name, value in settings.items():
        if name in hints and not _fits(value, hints[name]):
            raise RankaeError(f"{method}: {name} cannot be {value!r}; it takes {_told(hints[name])}")


def _fits(value: Any, hint: Any) -> bool:
    if hint is Any:
        return True
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
    if kind is tuple:
        return isinstance(value, tuple | list)  # JSON knows no tuples
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
