"""Data: formats, text to weighted words, known data sets, generated data, splits and label noise.

Names are imported when first used, so that `import rankae.data` costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rankae.data.batches import iter_batches
    from rankae.data.dataset import Dataset
    from rankae.data.generate import make_dataset
    from rankae.data.info import describe
    from rankae.data.known import KNOWN
    from rankae.data.noise import flip_labels, flip_labels_balanced, miss_labels
    from rankae.data.sources import load_dataset, splits_of
    from rankae.data.splits import split_rows
    from rankae.data.text import TextFeatures
    from rankae.data.word_embeddings import read_glove
    from rankae.data.writing import write_dataset

__all__ = [
    "KNOWN",
    "Dataset",
    "TextFeatures",
    "describe",
    "flip_labels",
    "flip_labels_balanced",
    "iter_batches",
    "load_dataset",
    "make_dataset",
    "miss_labels",
    "read_glove",
    "split_rows",
    "splits_of",
    "write_dataset",
]

_MODULES = {
    "batches": ["iter_batches"],
    "dataset": ["Dataset"],
    "generate": ["make_dataset"],
    "glove": ["read_glove"],
    "info": ["describe"],
    "known": ["KNOWN"],
    "noise": ["flip_labels", "flip_labels_balanced", "miss_labels"],
    "sources": ["load_dataset", "splits_of"],
    "splits": ["split_rows"],
    "text": ["TextFeatures"],
    "writing": ["write_dataset"],
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return __all__
