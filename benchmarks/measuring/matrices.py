"""A data set as the one feature matrix that every system reads, kept in a folder between processes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

GENERATED = "generated"
_PARTS = ("train_x", "train_y", "test_x", "test_y")
_TEXTS = 200  # test rows that are also kept as text, to time one row from text to labels


@dataclass(frozen=True)
class Matrices:
    """CSR float32: weighted words (x) and 0/1 labels (y)."""

    train_x: sp.csr_matrix
    train_y: sp.csr_matrix
    test_x: sp.csr_matrix
    test_y: sp.csr_matrix

    def write(self, folder: Path) -> None:
        for part in _PARTS:
            sp.save_npz(folder / f"{part}.npz", sp.csr_matrix(getattr(self, part), dtype=np.float32), compressed=False)

    @classmethod
    def read(cls, folder: Path) -> Matrices:
        return cls(*(sp.csr_matrix(sp.load_npz(folder / f"{part}.npz")) for part in _PARTS))


def prepare(data: str, folder: Path, rows: int | None) -> dict[str, int]:
    """Read a data set, or generate one, and write its matrices to `folder`; returns its sizes.

    rows : keep at most this many training and test rows, drawn at random, and the labels that training rows have.
    """
    train, test = _generated(rows) if data == GENERATED else _read(data, rows)
    if train.texts is None:
        x, x_test = train.features, test.features
    else:
        from rankae.data.text import TextFeatures

        text = TextFeatures()
        x, x_test = text.fit_transform(train.texts), text.transform(test.texts)
        settings, arrays, words = text.state()
        np.savez(folder / "text.npz", **arrays)
        (folder / "text.json").write_text(json.dumps([settings, words, test.texts[:_TEXTS]]))
    used = np.flatnonzero(np.bincount(train.labels.indices, minlength=train.n_labels)) if rows else slice(None)
    matrices = Matrices(x, train.labels[:, used], x_test, test.labels[:, used])
    matrices.write(folder)
    n, labels = matrices.train_y.shape
    return {"rows": n, "test_rows": x_test.shape[0], "labels": labels, "features": x.shape[1], "words": x.nnz}


def texts_of(folder: Path) -> tuple[Any, list[str]]:
    """The fitted TextFeatures and some texts of test rows; (None, []) where rows came as features."""
    if not (folder / "text.json").exists():
        return None, []
    from rankae.data.text import TextFeatures

    settings, words, texts = json.loads((folder / "text.json").read_text())
    return TextFeatures.from_state(settings, dict(np.load(folder / "text.npz")), words), texts


def _generated(rows: int | None) -> Any:
    from rankae.data.generate import make_dataset

    return make_dataset(rows=rows or 10_000, labels=2_000 if rows is None else max(20, rows // 5), text=True)


def _read(data: str, rows: int | None) -> Any:
    from rankae.experiments.measure import train_and_test

    parts = train_and_test(data)
    if rows is None:
        return parts
    random = np.random.default_rng(0)
    return tuple(part.take(np.sort(random.permutation(part.n_rows)[:rows])) for part in parts)
