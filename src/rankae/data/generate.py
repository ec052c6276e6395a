"""Generated data: documents from topics, with Zipf-distributed labels that depend on each other.

How a row comes about:

1. A first label is drawn by Zipf's law. It fixes the topic: every label belongs to one.
2. More labels follow: mostly companions of the first one (a fixed few for every label), else others of the topic.
3. Words are drawn one by one: from the signature of one of the labels, from the topic, or from the
   background that all documents share, by Zipf's law. Signatures overlap, so labels must be told apart by
   several words, and some documents say too little: a good model gets the first label right in 70 to 90 % of rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from rankae.data.dataset import Dataset
from rankae.data.made_up_words import made_up_words
from rankae.data.noise import flip_labels_balanced, miss_labels
from rankae.errors import DataError
from rankae.progress import track

BLOCK_ROWS = 50_000
SIGNATURE_WORDS, TOPIC_WORDS, COMPANIONS = 8, 30, 6
FROM_LABELS, FROM_TOPIC = 0.12, 0.2  # shares of a document's words; the rest is background
FROM_COMPANIONS = 0.7  # share of the further labels
MOST_LABELS = 5_000_000


@dataclass(frozen=True)
class _World:
    """What all documents share: which labels and words go together, and how often each occurs."""

    label_of_place: np.ndarray  # labels side by side by topic: place -> label
    place_ends: np.ndarray  # cumulated frequency at each place
    topic_of_place: np.ndarray
    topic_starts: np.ndarray  # cumulated frequency at which each topic begins, and the end of the last
    companions: np.ndarray  # places x COMPANIONS -> place
    signatures: np.ndarray  # places x SIGNATURE_WORDS -> word
    topic_words: np.ndarray  # topics x TOPIC_WORDS -> word
    background_ends: np.ndarray  # cumulated frequency of every word as background


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
    world = _world(rng, labels, features)
    counts, truth = _rows(rng, world, rows + test_rows, labels, features, labels_per_row, words_per_row)
    observed = flip_labels_balanced(miss_labels(truth[:rows], missing, seed), flips, seed + 1)
    words = made_up_words(features + labels, seed)
    label_names = words[features:]
    parts = []
    for part, own in ((slice(0, rows), observed), (slice(rows, None), truth[rows:])):
        if text:
            texts = _texts(counts[part], words, rng)
            parts.append(Dataset(own, texts=texts, label_names=label_names, name="generated"))
        else:
            parts.append(Dataset(own, _weighted(counts[part]), None, label_names, words[:features], "generated"))
    return parts[0], parts[1]


def _world(rng: np.random.Generator, labels: int, features: int) -> _World:
    n_topics = max(1, int(np.sqrt(labels)))
    frequency = rng.permutation(1.0 / (np.arange(labels) + 3.0))  # Zipf's law, its head a little flattened
    topic = rng.integers(0, n_topics, labels)
    label_of_place = np.argsort(topic, kind="stable")
    topic_of_place = topic[label_of_place]
    place_ends = np.cumsum(frequency[label_of_place])
    topic_starts = np.concatenate([[0], place_ends])[np.searchsorted(topic_of_place, np.arange(n_topics + 1))]
    background = 1.0 / (np.arange(features) + 5.0)
    return _World(
        label_of_place,
        place_ends,
        topic_of_place,
        topic_starts,
        companions=_of_topic(rng, np.repeat(topic_of_place, COMPANIONS), topic_starts, place_ends).reshape(
            -1, COMPANIONS
        ),
        # The commonest tenth of the words is background only.
        signatures=rng.integers(features // 10, features, (labels, SIGNATURE_WORDS)),
        topic_words=rng.integers(features // 10, features, (n_topics, TOPIC_WORDS)),
        background_ends=np.cumsum(background),
    )


def _of_topic(
    rng: np.random.Generator, topic: np.ndarray, topic_starts: np.ndarray, place_ends: np.ndarray
) -> np.ndarray:
    """A place within each given topic, drawn by frequency."""
    low, high = topic_starts[topic], topic_starts[topic + 1]
    drawn = np.searchsorted(place_ends, low + (high - low) * rng.random(len(topic)), side="right")
    return np.minimum(drawn, len(place_ends) - 1)


def _rows(
    rng: np.random.Generator, world: _World, n: int, labels: int, features: int, labels_per_row: float, length: float
) -> tuple[sp.csr_matrix, sp.csr_matrix]:
    """Word counts and label rows of `n` documents."""
    counts, truth = [], []
    for start in track(range(0, n, BLOCK_ROWS), "generating"):
        size = min(BLOCK_ROWS, n - start)
        row, place = _draw_labels(rng, world, size, labels_per_row)
        word_row, word = _draw_words(rng, world, row, place, size, length)
        counts.append(_count(word_row, word, (size, features)))
        own = _count(row, world.label_of_place[place], (size, labels))
        own.data[:] = 1  # a label drawn twice is there once
        truth.append(own)
    return sp.vstack(counts, format="csr"), sp.vstack(truth, format="csr")


def _draw_labels(
    rng: np.random.Generator, world: _World, n: int, labels_per_row: float
) -> tuple[np.ndarray, np.ndarray]:
    """(row, place) of every label, sorted by row."""
    first = np.searchsorted(world.place_ends, rng.random(n) * world.place_ends[-1], side="right")
    first = np.minimum(first, len(world.place_ends) - 1)
    row = np.repeat(np.arange(n), rng.poisson(labels_per_row - 1, n))
    leader = first[row]
    companion = world.companions[leader, rng.integers(0, COMPANIONS, len(row))]
    other = _of_topic(rng, world.topic_of_place[leader], world.topic_starts, world.place_ends)
    place = np.where(rng.random(len(row)) < FROM_COMPANIONS, companion, other)
    row, place = np.concatenate([np.arange(n), row]), np.concatenate([first, place])
    order = np.argsort(row, kind="stable")
    return row[order], place[order]


def _draw_words(
    rng: np.random.Generator, world: _World, row: np.ndarray, place: np.ndarray, n: int, length: float
) -> tuple[np.ndarray, np.ndarray]:
    """(row, word) of every token, sorted by row."""
    starts = np.searchsorted(row, np.arange(n + 1))
    word_row = np.repeat(np.arange(n), np.maximum(1, rng.poisson(length, n)))
    picked = starts[word_row] + (rng.random(len(word_row)) * np.diff(starts)[word_row]).astype(np.int64)
    of_label = world.signatures[place[picked], rng.integers(0, SIGNATURE_WORDS, len(word_row))]
    topic = world.topic_of_place[place[starts[:-1]]][word_row]
    of_topic = world.topic_words[topic, rng.integers(0, TOPIC_WORDS, len(word_row))]
    ends = world.background_ends
    background = np.minimum(np.searchsorted(ends, rng.random(len(word_row)) * ends[-1], side="right"), len(ends) - 1)
    source = rng.random(len(word_row))
    word = np.where(source < FROM_LABELS, of_label, np.where(source < FROM_LABELS + FROM_TOPIC, of_topic, background))
    return word_row, word


def _count(row: np.ndarray, column: np.ndarray, shape: tuple[int, int]) -> sp.csr_matrix:
    indptr = np.searchsorted(row, np.arange(shape[0] + 1))
    counts = sp.csr_matrix((np.ones(len(row), np.float32), column.astype(np.int32), indptr), shape=shape)
    counts.sum_duplicates()
    return counts


def _weighted(counts: sp.csr_matrix) -> sp.csr_matrix:
    values = 1 + np.log(counts.data)
    lengths = np.sqrt(np.add.reduceat(values * values, counts.indptr[:-1]))  # every document has a word
    values /= np.repeat(lengths, np.diff(counts.indptr))
    return sp.csr_matrix((values, counts.indices, counts.indptr), shape=counts.shape)


def _texts(counts: sp.csr_matrix, words: list[str], rng: np.random.Generator) -> list[str]:
    texts = []
    for a, b in zip(counts.indptr[:-1], counts.indptr[1:], strict=True):
        tokens = np.repeat(counts.indices[a:b], counts.data[a:b].astype(np.int64))
        rng.shuffle(tokens)
        texts.append(" ".join([words[i] for i in tokens.tolist()]))
    return texts
