"""Draws random rows from a generative model of topics, labels and words.

A row is drawn in three steps:

1. A first label is drawn by its frequency. It fixes the topic: every label belongs to one.
2. More labels follow: mostly companions of the first one (a fixed few for every label), else others of the topic.
3. Words are drawn one by one: from the signature of one of the labels, from the topic, or from the
   background that all documents share, by Zipf's law. Signatures overlap, so that several words are needed to identify
   a label, and some documents have too few of them: a good model ranks a true label first in 70 to 90 % of the rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

SIGNATURE_WORDS, TOPIC_WORDS, COMPANIONS = 8, 30, 6
FROM_COMPANIONS = 0.7  # share of the further labels


@dataclass(frozen=True)
class FrequencyLaw:
    """The label of rank r (from 0) has a frequency of (r + flat)^-slope: Zipf's law with a flattened head."""

    slope: float = 1.0
    flat: float = 3.0


@dataclass(frozen=True)
class Mixture:
    """Shares of a document's words that come from its labels and from its topic; the rest is background."""

    labels: float = 0.12
    topic: float = 0.2


ZIPF, MIXTURE = FrequencyLaw(), Mixture()


@dataclass(frozen=True)
class World:
    """The parameters that all documents share: co-occurrence and frequencies of labels and words."""

    label_of_place: np.ndarray  # labels side by side by topic: place -> label
    place_ends: np.ndarray  # cumulated frequency at each place
    topic_of_place: np.ndarray
    topic_starts: np.ndarray  # cumulated frequency at which each topic begins, and the end of the last
    companions: np.ndarray  # places x COMPANIONS -> place
    signatures: np.ndarray  # places x SIGNATURE_WORDS -> word
    topic_words: np.ndarray  # topics x TOPIC_WORDS -> word
    background_ends: np.ndarray  # cumulated frequency of every word as background
    mixture: Mixture


def new_world(
    rng: np.random.Generator,
    labels: int,
    features: int,
    law: FrequencyLaw = ZIPF,
    mixture: Mixture = MIXTURE,
) -> World:
    n_topics = max(1, int(np.sqrt(labels)))
    frequency = rng.permutation((np.arange(labels) + law.flat) ** -law.slope)
    topic = rng.integers(0, n_topics, labels)
    label_of_place = np.argsort(topic, kind="stable")
    topic_of_place = topic[label_of_place]
    place_ends = np.cumsum(frequency[label_of_place])
    topic_starts = np.concatenate([[0], place_ends])[np.searchsorted(topic_of_place, np.arange(n_topics + 1))]
    background = 1.0 / (np.arange(features) + 5.0)
    return World(
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
        mixture=mixture,
    )


def _of_topic(
    rng: np.random.Generator, topic: np.ndarray, topic_starts: np.ndarray, place_ends: np.ndarray
) -> np.ndarray:
    """A place within each given topic, drawn by frequency."""
    low, high = topic_starts[topic], topic_starts[topic + 1]
    drawn = np.searchsorted(place_ends, low + (high - low) * rng.random(len(topic)), side="right")
    return np.minimum(drawn, len(place_ends) - 1)


def draw_rows(
    rng: np.random.Generator, world: World, n: int, labels_per_row: float, words_per_row: float
) -> tuple[sp.csr_matrix, sp.csr_matrix]:
    """Word counts and label rows of `n` documents, with the given mean numbers of labels and words drawn per row."""
    labels, features = len(world.label_of_place), len(world.background_ends)
    row, place = _draw_labels(rng, world, n, labels_per_row)
    word_row, word = _draw_words(rng, world, row, place, n, words_per_row)
    truth = _count(row, world.label_of_place[place], (n, labels))
    truth.data[:] = 1  # a label drawn twice is there once
    return _count(word_row, word, (n, features)), truth


def _draw_labels(
    rng: np.random.Generator, world: World, n: int, labels_per_row: float
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
    rng: np.random.Generator, world: World, row: np.ndarray, place: np.ndarray, n: int, length: float
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
    of_labels, of_topics = world.mixture.labels, world.mixture.labels + world.mixture.topic
    word = np.where(source < of_labels, of_label, np.where(source < of_topics, of_topic, background))
    return word_row, word


def _count(row: np.ndarray, column: np.ndarray, shape: tuple[int, int]) -> sp.csr_matrix:
    indptr = np.searchsorted(row, np.arange(shape[0] + 1))
    counts = sp.csr_matrix((np.ones(len(row), np.float32), column.astype(np.int32), indptr), shape=shape)
    counts.sum_duplicates()
    return counts


def weighted(counts: sp.csr_matrix, idf: np.ndarray | None = None) -> sp.csr_matrix:
    """Weights 1 + ln(count), times the word's idf if that is given, scaled to rows of length 1."""
    values = 1 + np.log(counts.data)
    if idf is not None:
        values *= idf[counts.indices]
    lengths = np.sqrt(np.add.reduceat(values * values, counts.indptr[:-1]))  # every document has a word
    values /= np.repeat(lengths, np.diff(counts.indptr))
    return sp.csr_matrix((values, counts.indices, counts.indptr), shape=counts.shape)
