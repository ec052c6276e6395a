"""`--set key=value`: a method's parameters from the command line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rankae.base.literals import literal
from rankae.errors import RankaeError


def parse_settings(pairs: Sequence[str]) -> dict[str, Any]:
    """{"epochs": 5} from ["epochs=5"]; a value that is no Python literal is a string.

    >>> parse_settings(["epochs=5", "attention=false", "loss=bce", "ngrams=(1, 2)"])
    {'epochs': 5, 'attention': False, 'loss': 'bce', 'ngrams': (1, 2)}
    """
    parameters: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.strip().isidentifier():
            raise RankaeError(f"--set takes key=value, but was given {pair!r}")
        parameters[name.strip().replace("-", "_")] = literal(value)
    return parameters
