"""The search space of a method's parameters, which its class declares in `search_space`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias


@dataclass(frozen=True)
class Between:
    """A number drawn uniformly (with `log`, log-uniformly) between two bounds; an integer if both are integers."""

    low: float
    high: float
    log: bool = False


@dataclass(frozen=True)
class OneOf:
    """One of a few values."""

    values: tuple[Any, ...]


Space: TypeAlias = dict[str, Between | OneOf]
