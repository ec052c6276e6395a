"""Checks parameters against their type hints before any work.

A hint declares the type of a parameter, a closed set of values by `Literal`, or a range by `Annotated`:

    epochs: Annotated[int, Range(1)]        loss: Literal["hinge", "log"]        device: Annotated[str, Device()]

`registry.create` (and with it `--set` and all experiments), `fit`, and dataclasses of settings check these hints.
"""

from __future__ import annotations

import math
import types
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from numbers import Integral, Real
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol, TypeAlias, Union, get_args, get_origin, get_type_hints

import numpy as np

from rankae.errors import RankaeError, nearest


class Limit(Protocol):
    """A constraint that `Annotated` adds to a type."""

    def complaint(self, value: Any) -> str | None:
        """What is wrong with a value, as the end of a sentence that begins with the parameter's name; else None."""


@dataclass(frozen=True)
class Range:
    """Numbers from `low` to `high`; `above` and `below` exclude the bounds themselves."""

    low: float | None = None
    high: float | None = None
    above: bool = False
    below: bool = False

    def complaint(self, value: Any) -> str | None:
        inside = math.isfinite(value)
        if self.low is not None:
            inside = inside and (value > self.low if self.above else value >= self.low)
        if self.high is not None:
            inside = inside and (value < self.high if self.below else value <= self.high)
        return None if inside else f"must be {self}, but it is {value!r}"

    def __str__(self) -> str:
        ends = []
        if self.low is not None:
            ends.append(f"{'above' if self.above else 'at least'} {self.low}")
        if self.high is not None:
            ends.append(f"{'below' if self.below else 'at most'} {self.high}")
        return " and ".join(ends) or "finite"


@dataclass(frozen=True)
class Ascending:
    """Numbers in ascending order."""

    def complaint(self, value: Any) -> str | None:
        return None if list(value) == sorted(value) else f"must ascend, but it is {value!r}"


@dataclass(frozen=True)
class Device:
    """A device that torch finds on this machine.

    auto : whether "auto" is allowed as well.
    """

    auto: bool = False

    def complaint(self, value: Any) -> str | None:
        if value == "cpu" or (self.auto and value == "auto"):
            return None
        import torch  # takes a second to import

        try:
            device = torch.device(value)
        except RuntimeError:
            device = torch.device("meta")
        if device.type not in ("cpu", "cuda", "mps", "xpu"):
            return f"must be cpu, cuda, cuda:0, mps or xpu, but it is {value!r}"
        try:
            torch.empty(1, device=device)
        except (RuntimeError, AssertionError, NotImplementedError):
            return f"is {value!r}, but torch finds no such device here; use cpu"
        return None


Count: TypeAlias = Annotated[int, Range(1)]
CountFromZero: TypeAlias = Annotated[int, Range(0)]
Size: TypeAlias = Annotated[int, Range(1, 2**20)]  # of a layer, of a code
Positive: TypeAlias = Annotated[float, Range(0, above=True)]
NotNegative: TypeAlias = Annotated[float, Range(0)]
Share: TypeAlias = Annotated[float, Range(0, 1, below=True)]  # less than all
Threads: TypeAlias = Annotated[int, Range(1, 1024)]
NGrams: TypeAlias = Annotated[tuple[Annotated[int, Range(1, 9)], Annotated[int, Range(1, 9)]], Ascending()]
Seed: TypeAlias = Annotated[int, Range(0, 2**32 - 1)] | None
RandomState: TypeAlias = Seed | np.random.RandomState


def check_parameters(method: str, ranker: type, settings: dict[str, Any]) -> None:
    """Refuse parameters that the method does not have, and values that do not fit their hints."""
    known = ranker._get_param_names()  # type: ignore[attr-defined]
    if unknown := sorted(set(settings) - set(known)):
        meant = nearest(unknown[0], known)
        raise RankaeError(f"{method} has no parameter {unknown[0]!r}; {meant}it has {', '.join(known) or 'none'}")
    check_values(method, ranker, settings)


def check_values(owner: str, of: type, settings: dict[str, Any]) -> None:
    """Refuse values that do not fit the hints of the class `of`, a method's or one of settings."""
    hints = parameter_hints(of)
    for name, value in settings.items():
        if name not in hints:
            continue
        if (wrong := _complaint(value, hints[name])) is not None:
            raise RankaeError(f"{owner}: {name} {wrong or _no_such_value(value, hints[name])}")


@cache
def parameter_hints(of: type) -> dict[str, Any]:
    """The hint of each parameter of a class: those of its fields if it is a dataclass, else of its constructor."""
    if not is_dataclass(of):
        return get_type_hints(of.__init__, include_extras=True)  # type: ignore[misc]
    hints = get_type_hints(of, include_extras=True)
    return {field.name: hints[field.name] for field in fields(of)}


def _complaint(value: Any, hint: Any) -> str | None:
    """None if the value fits, "" if it has the wrong type, else what is wrong with it."""
    origin, arguments = get_origin(hint), get_args(hint)
    if hint is Any:
        return None
    if origin is Annotated:
        complaint = _complaint(value, arguments[0])
        limits = (limit.complaint(value) for limit in arguments[1:])
        return complaint if complaint is not None else next((limit for limit in limits if limit is not None), None)
    if origin in (Union, types.UnionType):
        complaints = [_complaint(value, option) for option in arguments]
        return None if None in complaints else max(complaints, key=lambda complaint: len(complaint or ""))
    if origin is Literal:
        fits = any(value is option or (type(value) is type(option) and value == option) for option in arguments)
    elif origin is tuple:  # or a list: JSON knows no tuples
        if not isinstance(value, tuple | list):
            return ""
        kinds = [arguments[0]] * len(value) if arguments[-1:] == (Ellipsis,) else list(arguments)
        if len(kinds) != len(value) or not kinds:
            return ""
        complaints = [_complaint(option, kind) for option, kind in zip(value, kinds, strict=True)]
        return next((complaint for complaint in complaints if complaint is not None), None)
    elif hint is bool:
        fits = isinstance(value, bool | np.bool_)
    elif hint in (int, float):
        fits = isinstance(value, Integral if hint is int else Real) and not isinstance(value, bool)
    elif hint is Path:
        fits = isinstance(value, str | Path)
    else:
        kind = origin or hint
        fits = isinstance(value, kind) if isinstance(kind, type) else True
    return None if fits else ""


def _no_such_value(value: Any, hint: Any) -> str:
    shown = repr(value)
    return f"cannot be {shown if len(shown) < 100 else shown[:100] + '...'}; it takes {_described(hint)}"


def _described(hint: Any) -> str:
    """A hint in words for the user."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _described(arguments[0])
    if origin in (Union, types.UnionType):
        return " or ".join(_described(option) for option in arguments)
    if origin is Literal:
        return " or ".join(repr(option) for option in arguments)
    if origin is tuple:
        return "whole numbers, such as (1, 2)" if arguments[-1:] == (Ellipsis,) else f"{len(arguments)} whole numbers"
    names = {int: "a whole number", float: "a number", bool: "true or false", str: "a name", type(None): "none"}
    return names.get(hint, str(getattr(hint, "__name__", hint)))
