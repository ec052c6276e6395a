"""Predictions as lines: JSON or CSV. Every name is encoded once, not once a row."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

Lines = Callable[[np.ndarray, np.ndarray, np.ndarray | None], Iterator[bytes]]


def json_lines(classes: np.ndarray) -> Lines:
    """{"labels": [...], "scores": [...], "probabilities": [...]} a row, best first.

    A model without calibration has no probabilities: null.
    """
    names = [json.dumps(name) for name in classes.tolist()]

    def lines(columns: np.ndarray, scores: np.ndarray, probabilities: np.ndarray | None) -> Iterator[bytes]:
        likely = [None] * len(columns) if probabilities is None else probabilities.tolist()
        for own, values, chances in zip(columns.tolist(), scores.tolist(), likely, strict=True):
            kept = [i for i, c in enumerate(own) if c >= 0]
            labels = ", ".join(names[own[i]] for i in kept)
            told = "null" if chances is None else f"[{', '.join(_figure(chances[i]) for i in kept)}]"
            figures = ", ".join(_figure(values[i]) for i in kept)
            yield f'{{"labels": [{labels}], "scores": [{figures}], "probabilities": {told}}}\n'.encode()

    return lines


def csv_lines(classes: np.ndarray) -> Lines:
    """label_1,score_1,probability_1,label_2,... a row; an empty place is empty cells, as is an unknown probability."""
    names = [_csv_cell(name) for name in classes.tolist()]

    def lines(columns: np.ndarray, scores: np.ndarray, probabilities: np.ndarray | None) -> Iterator[bytes]:
        likely = [[None] * columns.shape[1]] * len(columns) if probabilities is None else probabilities.tolist()
        for own, values, chances in zip(columns.tolist(), scores.tolist(), likely, strict=True):
            cells = [
                f"{names[c]},{_figure(v)},{'' if p is None else _figure(p)}" if c >= 0 else ",,"
                for c, v, p in zip(own, values, chances, strict=True)
            ]
            yield (",".join(cells) + "\n").encode(errors="replace")

    return lines


def csv_head(k: int) -> bytes:
    return (",".join(f"label_{i},score_{i},probability_{i}" for i in range(1, k + 1)) + "\n").encode()


def _figure(score: float) -> str:
    return f"{score:.6g}"  # what float32 holds


def _csv_cell(name: Any) -> str:
    cell = io.StringIO()
    csv.writer(cell, lineterminator="\r\n").writerow([name])  # both, so that a name with either is quoted
    return cell.getvalue().removesuffix("\r\n")
