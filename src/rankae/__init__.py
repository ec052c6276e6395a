"""Rank-AE and its rivals: extreme multi-label classification with one face for every method.

Names are imported when they are first used, so that `import rankae` and `rankae --help` stay quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rankae import losses as losses
    from rankae import metrics as metrics
    from rankae.data import load_dataset as load_dataset
    from rankae.methods import load as load
    from rankae.methods.rank_ae import RankAE as RankAE

__version__ = "0.1.0"
__all__ = ["RankAE", "load", "load_dataset", "losses", "metrics"]

_HOMES = {"RankAE": "rankae.methods.rank_ae", "load": "rankae.methods", "load_dataset": "rankae.data"}
_MODULES = ("losses", "metrics")


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    elif name in _MODULES:
        value = import_module(f"rankae.{name}")
    else:
        raise AttributeError(f"module 'rankae' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
