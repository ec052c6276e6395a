"""labels.txt and vocab.txt beside the data: a name a line, or code<TAB>name."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np

from rankae.data.dataset import Dataset
from rankae.data.opening import open_data, text_lines
from rankae.errors import DataError


def read_names(path: Path) -> tuple[list[str], list[str]]:
    """Codes and names, line by line; a line without a tab is both.

    Names that several codes share get their code appended.
    """
    codes, names = [], []
    with open_data(path) as stream:
        for number, line in text_lines(stream, str(path)):
            code, tab, name = line.partition("\t")
            if not code:
                raise DataError(f"{path}, line {number}: a name was expected, but the line is empty")
            codes.append(code)
            names.append(name if tab and name else code)
    times = Counter(names)
    names = [f"{name} ({code})" if times[name] > 1 else name for code, name in zip(codes, names, strict=True)]
    if len(set(names)) < len(names):
        twice = next(name for name, n in Counter(names).items() if n > 1)
        raise DataError(f"{path}: the name {twice!r} stands there twice")
    return codes, names


def with_names(data: Dataset, folder: Path) -> Dataset:
    """`data` with the names that labels.txt and vocab.txt in `folder` give, if there are such files."""
    if (labels := folder / "labels.txt").is_file():
        data = _with_label_names(data, labels)
    if (vocabulary := folder / "vocab.txt").is_file() and data.features is not None:
        names = read_names(vocabulary)[1]
        if len(names) < data.n_features:
            raise DataError(f"{vocabulary}: {len(names)} names for {data.n_features} features")
        data = replace(data.with_features(len(names)), feature_names=names)
    return data


def _with_label_names(data: Dataset, path: Path) -> Dataset:
    codes, names = read_names(path)
    if data.label_names is None:  # columns are numbers: line i names column i
        if len(names) != data.n_labels:
            raise DataError(f"{path}: {len(names)} names for {data.n_labels} labels")
        return replace(data, label_names=names)
    # Labels go by code or name: the file fixes the order of columns, so that every split has the same one.
    readable = dict(zip(codes, names, strict=True))
    data = data.aligned_to(codes if set(data.label_names) & set(codes) else names)
    names = [readable.get(label, label) for label in data.label_names or ()]
    return replace(data, label_names=names, labels=data.labels.astype(np.float32))
