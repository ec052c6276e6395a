"""The methods that Rank-AE is compared with, one file each, with its search space. `rankae.methods` lists them.

Up to version 0.1 `create`, `load` and others were imported from here; that still works.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    if name in ("METHODS", "Method", "class_of", "create", "load", "names", "seeded"):
        return getattr(import_module("rankae.methods"), name)
    raise AttributeError(f"module 'rankae.rivals' has no attribute {name!r}")
