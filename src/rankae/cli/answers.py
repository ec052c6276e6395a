"""Predictions as lines: JSON or CSV. Every name is encoded once, not once a row."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

Lines = Callable[[np.ndarray, np.ndarray], Iterator[bytes]]


def json_lines(classes: np.ndarray) -> Lines:
    """{"labels": [...], "scores": [...]} a row, best first."""
    names = [json.dumps(name) for name in classes.tolist()]

    def lines(columns: np.ndarray, scores: np.ndarray) -> Iterator[bytes]:
        for own, values in zip(columns.tolist(), scores.tolist(), strict=True):
            found = [c for c in own if c >= 0]  # empty places come last
            labels = ", ".join(names[c] for c in found)
            yield f'{{"labels": [{labels}], "scores": [{", ".join(map(_figure, values[: len(found)]))}]}}\n'.encode()

    return lines


def csv_lines(classes: np.ndarray) -> Lines:
    """label_1,score_1,label_2,score_2,... a row; an empty place is two empty cells."""
    names = [_csv_cell(name) for name in classes.tolist()]

    def lines(columns: np.ndarray, scores: np.ndarray) -> Iterator[bytes]:
        for own, values in zip(columns.tolist(), scores.tolist(), strict=True):
            cells = [f"{names[c]},{_figure(v)}" if c >= 0 else "," for c, v in zip(own, values, strict=True)]
            yield (",".join(cells) + "\n").encode(errors="replace")

    return lines


def csv_head(k: int) -> bytes:
    return (",".join(f"label_{i},score_{i}" for i in range(1, k + 1)) + "\n").encode()


def _figure(score: float) -> str:
    return f"{score:.6g}"  # what float32 holds


def _csv_cell(name: Any) -> str:
    cell = io.StringIO()
    csv.writer(cell, lineterminator="\r\n").writerow([name])  # both, so that a name with either is quoted
    return cell.getvalue().removesuffix("\r\n")
