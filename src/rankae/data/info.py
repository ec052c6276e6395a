"""`data info`: the columns of the paper's Table 1 for any data, and properties to check before training."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from rankae.data.dataset import Dataset
from rankae.data.known import Known, find_known
from rankae.data.sources import find_source, left_out, load_dataset, splits_of

_MOST_SHOWN = 10
_LIKE_EMPTY = frozenset(("none", "null", "n/a", "na", "nan", "-", "nil"))


def describe(source: str | Path, **options: Any) -> dict[str, Any]:
    """Counts of every split of `source`, and where they differ from the published ones; JSON values only."""
    names_of_splits = splits_of(source) or ["train"]  # where there is nothing, reading it says so
    splits = {names_of_splits[0]: load_dataset(source, names_of_splits[0], **options)}
    reading = splits[names_of_splits[0]].reading
    alike = None if reading is None else reading.for_other_files()
    splits |= {split: load_dataset(source, split, reading=alike, **options) for split in names_of_splits[1:]}
    place = find_source(source)
    known = find_known(place.name) if place.is_dir() else None
    return describe_splits(splits, known) | {"left_out": left_out(place)}


def describe_splits(splits: dict[str, Dataset], known: Known | None = None) -> dict[str, Any]:
    """As `describe`, for data that is in memory."""
    first = next(iter(splits.values()))
    everything = _label_counts(splits.values())
    training = _label_counts([first])
    rows = sum(len(data) for data in splits.values())
    facts: dict[str, Any] = {
        "name": first.name,
        "kind": "text" if first.features is None else "features",
        "reading": None if first.reading is None else first.reading.to_json(),
        "read": None if first.reading is None else first.reading.describe(),
        "rows": {split: len(data) for split, data in splits.items()},
        "labels": len(training),
        "features": None if first.features is None else first.n_features,
        "cardinality": round(sum(everything.values()) / max(1, rows), 2),
        "instances_per_label": round(sum(everything.values()) / max(1, len(everything)), 1),
        "instances_per_label_train": round(sum(training.values()) / max(1, len(training)), 1),
        "features_per_row": None if first.features is None else round(first.features.nnz / max(1, len(first)), 1),
        "duplicates": {split: _duplicates(data) for split, data in splits.items()},
        "also_in_train": {s: _shared(first, data) for s, data in splits.items() if data is not first},
        "rows_without_labels": {split: int((np.diff(d.labels.indptr) == 0).sum()) for split, d in splits.items()},
        "labels_unseen_in_train": sum(n > training.get(label, 0) == 0 for label, n in everything.items()),
        "frequent_labels": frequent(training),
        "label_frequency": histogram(np.fromiter(training.values(), np.int64, len(training))),
    }
    facts["differs"] = [] if known is None else differences(facts, known)
    facts["note"] = "" if known is None else known.note
    return facts


def frequent(counts: dict[Any, int]) -> dict[str, int]:
    """The labels of the most rows: a look at them shows whether cells of labels were understood."""
    best = sorted(counts.items(), key=lambda label: -label[1])[:_MOST_SHOWN]
    return {str(name): count for name, count in best if count}


def like_empty(labels: dict[str, int]) -> list[str]:
    """Label names that look like the mark of an empty cell."""
    return [name for name in labels if name.strip().lower() in _LIKE_EMPTY]


def histogram(counts: np.ndarray) -> dict[str, int]:
    """How many labels have 0, 1, 2-3, 4-7, ... training rows."""
    shown = {"0": int((counts == 0).sum())}
    low = 1
    while low <= counts.max(initial=0):
        high = 2 * low - 1
        shown[str(low) if low == high else f"{low}-{high}"] = int(((counts >= low) & (counts <= high)).sum())
        low = high + 1
    return shown


def differences(facts: dict[str, Any], known: Known) -> list[str]:
    """A sentence for each count that differs from the published one."""
    found = []
    for what in ("train", "dev", "test"):
        have, published = facts["rows"].get(what), getattr(known, what)
        if have is not None and published is not None and have != published:
            found.append(f"{what} has {have:,} rows, published are {published:,}")
    for what in ("labels", "features"):
        have, published = facts[what], getattr(known, what)
        if have is not None and published is not None and have != published:
            found.append(f"there are {have:,} {what}, published are {published:,}")
    if known.cardinality and abs(facts["cardinality"] - known.cardinality) > 0.01 * known.cardinality:
        found.append(f"cardinality is {facts['cardinality']}, published is {known.cardinality}")
    # Table 1 counts instances in training rows for some data sets and in all rows for others: either may agree.
    either = (facts["instances_per_label"], facts["instances_per_label_train"])
    if (published := known.instances_per_label) and all(
        abs(n - published) > max(0.5, 0.02 * published) for n in either
    ):
        found.append(f"there are {either[0]} instances per label, published are {published:g}")
    return found


def _label_counts(parts: Iterable[Dataset]) -> dict[Any, int]:
    """Rows of each label, by name where it has one: splits may number their labels differently."""
    total: dict[Any, int] = {}
    for data in parts:
        counts = np.bincount(data.labels.indices, minlength=data.n_labels).tolist()
        for label, count in zip(data.label_names or range(data.n_labels), counts, strict=True):
            total[label] = total.get(label, 0) + count
    return total


def _keys(data: Dataset) -> list[bytes | str]:
    if data.texts is not None:
        return list(data.texts)
    f = data.features
    ends = zip(f.indptr[:-1], f.indptr[1:], strict=True)  # type: ignore[union-attr]
    return [f.indices[a:b].tobytes() + f.data[a:b].tobytes() for a, b in ends]  # type: ignore[union-attr]


def _duplicates(data: Dataset) -> int:
    """The number of rows whose text or features equal those of an earlier row."""
    return len(data) - len(set(_keys(data)))


def _shared(train: Dataset, other: Dataset) -> int:
    """Rows of `other` that stand in the training rows too: they make scores look better than they are."""
    seen = set(_keys(train))
    return sum(key in seen for key in _keys(other))
