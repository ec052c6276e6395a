"""Which of a method's parameters a search may try, and where: each method's class says so in its `search_space`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias


@dataclass(frozen=True)
class Between:
    """A number between two others, drawn evenly, or evenly by its logarithm; whole if both ends are."""

    low: float
    high: float
    log: bool = False


@dataclass(frozen=True)
class OneOf:
    """One of a few values."""

    values: tuple[Any, ...]


Space: TypeAlias = dict[str, Between | OneOf]
