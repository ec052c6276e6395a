"""Generated data of the size of the largest public data sets, written in blocks of rows to bound memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from rankae.data.drawing import World, draw_rows, new_world, weighted
from rankae.data.formats.xmc_digits import xmc_bytes
from rankae.data.made_up_words import made_up_words
from rankae.data.shapes import Shape
from rankae.data.writing import write_names, written
from rankae.progress import bar

_BLOCK_WORDS = 2_000_000  # drawn at a time
_MOST_BLOCK_ROWS = 25_000
_PROBED, _PROBES = 2_000, 4  # rows, and rounds, of the search for the numbers to draw per row


def write_like(shape: Shape, out: str | Path, seed: int = 0) -> dict[str, int]:
    """Write train.txt, test.txt (XMC text), labels.txt and vocab.txt into the folder `out`; returns the counts."""
    out = Path(out)
    rng = np.random.default_rng(seed)
    world = new_world(rng, shape.labels, shape.features, shape.law, shape.mixture)
    drawn = _drawn_for(shape, world, seed)
    idf = _inverse_frequencies(shape, world)
    with bar("generating", shape.rows + shape.test_rows) as progress:
        for split, rows in (("train", shape.rows), ("test", shape.test_rows)):
            with written(out / f"{split}.txt") as stream:
                stream.write(f"{rows} {shape.features} {shape.labels}\n".encode())
                for features, labels in _blocks(rng, world, rows, *drawn):
                    stream.write(xmc_bytes(labels, weighted(features, idf)))
                    progress.advance(labels.shape[0])
    words = made_up_words(shape.features + shape.labels, seed)
    write_names(words[: shape.features], out / "vocab.txt")
    write_names(words[shape.features :], out / "labels.txt")
    return {"train": shape.rows, "test": shape.test_rows, "labels": shape.labels, "features": shape.features}


def _blocks(
    rng: np.random.Generator, world: World, rows: int, labels_per_row: float, words_per_row: float
) -> Iterator[tuple[sp.csr_matrix, sp.csr_matrix]]:
    size = max(1, min(_MOST_BLOCK_ROWS, int(_BLOCK_WORDS / words_per_row)))
    for start in range(0, rows, size):
        yield draw_rows(rng, world, min(size, rows - start), labels_per_row, words_per_row)


def _inverse_frequencies(shape: Shape, world: World) -> np.ndarray:
    """idf of each word, by the share of rows that are expected to hold it; the large sets are weighted so."""
    chance = np.diff(world.background_ends, prepend=0) / world.background_ends[-1]
    background = 1 - shape.mixture.labels - shape.mixture.topic
    often = shape.words_per_row * (background * chance + (1 - background) / shape.features)
    frequency = shape.rows * -np.expm1(-often)
    return (np.log((1 + shape.rows) / (1 + frequency)) + 1).astype(np.float32)


def _drawn_for(shape: Shape, world: World, seed: int) -> tuple[float, float]:
    """Numbers of labels and words to draw per row, so that the shape's numbers of distinct ones result."""

    def distinct_per_row(labels: float, words: float) -> tuple[float, float]:
        counts, truth = draw_rows(np.random.default_rng([seed, 1]), world, _PROBED, labels, words)
        return truth.nnz / _PROBED, counts.nnz / _PROBED

    return _inverse(distinct_per_row, (shape.labels_per_row, shape.words_per_row))


def _inverse(
    measure: Callable[[float, float], tuple[float, float]], target: tuple[float, float]
) -> tuple[float, float]:
    """Arguments for which `measure` returns the target, by fixed-point iteration."""
    labels, words = target
    for _ in range(_PROBES):
        measured = measure(labels, words)
        labels = max(1.0, labels * target[0] / measured[0])
        words = max(1.0, words * target[1] / measured[1])
    return labels, words
