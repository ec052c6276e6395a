"""Data: formats, text to weighted words, known data sets, generated data, splits and label noise.

Names are imported when first used, so that `import rankae.data` costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rankae.data.batches import iter_batches
    from rankae.data.dataset import Dataset
    from rankae.data.generate import generate
    from rankae.data.glove import read_glove
    from rankae.data.info import describe
    from rankae.data.known import KNOWN
    from rankae.data.noise import flip_labels, flip_labels_balanced, miss_labels
    from rankae.data.sources import load_dataset, splits_of
    from rankae.data.splits import split_rows
    from rankae.data.text import TextFeatures
    from rankae.data.writing import write_dataset

_HOMES = {
    "Dataset": "dataset",
    "TextFeatures": "text",
    "load_dataset": "sources",
    "splits_of": "sources",
    "iter_batches": "batches",
    "write_dataset": "writing",
    "KNOWN": "known",
    "describe": "info",
    "generate": "generate",
    "split_rows": "splits",
    "miss_labels": "noise",
    "flip_labels": "noise",
    "flip_labels_balanced": "noise",
    "read_glove": "glove",
}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
