"""Rank-AE and its rivals: extreme multi-label classification with one face for every method.

Names are imported when they are first used, so that `import rankae` and `rankae --help` stay quick.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

# MKL, which multiplies torch's matrices, reads this at its first product. It then adds up long sums in the same order
# on any number of threads, as fast as before; small products may still differ in the last digit.
os.environ.setdefault("MKL_CBWR", "AUTO,STRICT")

if TYPE_CHECKING:
    from rankae import losses as losses
    from rankae import metrics as metrics
    from rankae.data import load_dataset as load_dataset
    from rankae.errors import DataError as DataError
    from rankae.errors import ModelFileError as ModelFileError
    from rankae.errors import RankaeError as RankaeError
    from rankae.methods import METHODS as METHODS
    from rankae.methods import create as create
    from rankae.methods import load as load
    from rankae.methods.rank_ae import RankAE as RankAE

__version__ = "0.2.0"
__all__ = [
    "RankAE", "create", "load", "load_dataset", "METHODS", "losses", "metrics",
    "RankaeError", "DataError", "ModelFileError",
]  # fmt: skip

_HOMES = {
    "RankAE": "rankae.methods.rank_ae",
    "create": "rankae.methods",
    "load": "rankae.methods",
    "METHODS": "rankae.methods",
    "load_dataset": "rankae.data",
    "RankaeError": "rankae.errors",
    "DataError": "rankae.errors",
    "ModelFileError": "rankae.errors",
}
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
