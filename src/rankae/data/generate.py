"""Generated data: documents from topics, with Zipf-distributed, dependent labels (see `rankae.data.drawing`)."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from rankae.data.dataset import Dataset
from rankae.data.drawing import World, draw_rows, new_world, weighted
from rankae.data.made_up_words import made_up_words
from rankae.data.noise import flip_labels_balanced, miss_labels
from rankae.errors import DataError
from rankae.progress import track

BLOCK_ROWS = 50_000
MOST_LABELS = 5_000_000


def make_dataset(
    rows: int = 5_000,
    labels: int = 200,
    features: int | None = None,
    test_rows: int | None = None,
    labels_per_row: float = 3.0,
    words_per_row: float = 40.0,
    missing: float = 0.0,
    flips: float = 0.0,
    text: bool = True,
    seed: int = 0,
) -> tuple[Dataset, Dataset]:
    """Draw training and test rows.

    Parameters
    ----------
    rows, test_rows : how many of each; by default a quarter as many test rows.
    labels, features : distinct labels and words.
    labels_per_row, words_per_row : drawn on average; a label drawn twice counts once.
    missing, flips : noise in the TRAINING labels: the share of labels dropped, and the share replaced by wrong ones.
    text : raw texts; otherwise feature rows of 1 + ln(count), scaled to length 1.
    seed : the same seed gives the same data.
    """
    test_rows = max(1, rows // 4) if test_rows is None else test_rows
    features = min(200_000, max(1_000, 4 * labels)) if features is None else features
    if not 1 <= labels <= MOST_LABELS:
        raise DataError(f"{labels} labels were asked for; between 1 and {MOST_LABELS:,} can be made")
    if rows < 1 or test_rows < 1 or features < 10 or labels_per_row < 1 or words_per_row < 1:
        raise DataError("there must be at least one row, ten features, and one label and word a row")
    rng = np.random.default_rng(seed)
    world = new_world(rng, labels, features)
    counts, truth = _rows(rng, world, rows + test_rows, labels_per_row, words_per_row)
    observed = flip_labels_balanced(miss_labels(truth[:rows], missing, seed), flips, seed + 1)
    words = made_up_words(features + labels, seed)
    label_names = words[features:]
    parts = []
    for part, part_labels in ((slice(0, rows), observed), (slice(rows, None), truth[rows:])):
        if text:
            texts = _texts(counts[part], words, rng)
            parts.append(Dataset(part_labels, texts=texts, label_names=label_names, name="generated"))
        else:
            parts.append(Dataset(part_labels, weighted(counts[part]), None, label_names, words[:features], "generated"))
    return parts[0], parts[1]


def _rows(
    rng: np.random.Generator, world: World, n: int, labels_per_row: float, length: float
) -> tuple[sp.csr_matrix, sp.csr_matrix]:
    """Word counts and label rows of `n` documents."""
    sizes = [min(BLOCK_ROWS, n - start) for start in range(0, n, BLOCK_ROWS)]
    blocks = [draw_rows(rng, world, size, labels_per_row, length) for size in track(sizes, "generating")]
    counts, truth = zip(*blocks, strict=True)
    return sp.vstack(counts, format="csr"), sp.vstack(truth, format="csr")


def _texts(counts: sp.csr_matrix, words: list[str], rng: np.random.Generator) -> list[str]:
    texts = []
    for a, b in zip(counts.indptr[:-1], counts.indptr[1:], strict=True):
        tokens = np.repeat(counts.indices[a:b], counts.data[a:b].astype(np.int64))
        rng.shuffle(tokens)
        texts.append(" ".join([words[i] for i in tokens.tolist()]))
    return texts
