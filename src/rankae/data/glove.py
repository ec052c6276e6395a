"""GloVe's text files: a word and its vector a line; and word vectors that start from them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from rankae.data.opening import open_data, text_lines
from rankae.data.sources import find_source
from rankae.errors import DataError

MOST_DIMENSIONS = 4096


def read_glove(path: str | Path, limit: int | None = None) -> tuple[list[str], np.ndarray]:
    """Words and their vectors (float32, words x dimensions) from `path`, plain or compressed.

    limit : read only the first so many words; GloVe's files begin with the most frequent ones.
    """
    words: list[str] = []
    vectors: list[np.ndarray] = []
    with open_data(path) as stream:
        for number, line in text_lines(stream, str(path)):
            if limit is not None and len(words) >= limit:
                break
            # A few of GloVe's words hold blanks, so the vector is what stands at the end.
            fields = line.rstrip().split(" ")
            n = len(vectors[0]) if vectors else len(fields) - 1
            if n < 1 or n > MOST_DIMENSIONS or len(fields) <= n:
                raise DataError(f"{path}, line {number}: {len(fields) - 1} numbers where {n or 'some'} were expected")
            try:
                vector = np.fromiter(map(float, fields[-n:]), np.float32, n)
            except ValueError:
                raise DataError(f"{path}, line {number}: not a word and {n} numbers") from None
            if not np.isfinite(vector).all():
                raise DataError(f"{path}, line {number}: the vector holds NaN or infinite numbers")
            words.append(" ".join(fields[:-n]))
            vectors.append(vector)
    if not words:
        raise DataError(f"{path}: there are no word vectors in the file")
    return words, np.stack(vectors)


def known_vectors(words: Sequence[str], path: str | Path, size: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Places in `words` of those that the file knows, their vectors, and the spread of all vectors in the file.

    path : as for a data set, also relative to RANKAE_DATA.
    """
    names, vectors = read_glove(find_source(path))
    if vectors.shape[1] != size:
        raise DataError(
            f"{path} has vectors of {vectors.shape[1]} numbers: set the size of word vectors to that, not {size}"
        )
    row = {name: i for i, name in enumerate(names)}
    places = [i for i, word in enumerate(words) if word in row]
    found = vectors[[row[words[i]] for i in places]]
    return np.array(places, dtype=np.int64), found, float(vectors.std())


def word_directions(words: Sequence[str], path: str | Path) -> tuple[np.ndarray, int]:
    """A vector of length 1 for each of `words`, float32, and how many have one; 0 for those that the file lacks.

    A pair of words points where the sum of the two does.
    """
    names, vectors = read_glove(find_source(path))
    row = {name: i for i, name in enumerate(names)}
    found = np.zeros((len(words), vectors.shape[1]), dtype=np.float32)
    for i, feature in enumerate(words):
        own = feature.split(" ")
        if all(word in row for word in own):
            found[i] = vectors[[row[word] for word in own]].sum(axis=0)
    lengths = np.linalg.norm(found, axis=1, keepdims=True)
    return found / np.maximum(lengths, np.finfo(np.float32).tiny), int((lengths > 0).sum())


def starting_vectors(words: Sequence[str], path: str | Path, size: int, seed: int) -> tuple[np.ndarray, int]:
    """A vector for each of `words` (float32), and how many of them are the file's.

    Words that the file lacks start at random, as strong as the others, so that neither kind drowns the other out.
    """
    places, found, spread = known_vectors(words, path, size)
    vectors = np.random.default_rng(seed).normal(0, spread, (len(words), size)).astype(np.float32)
    vectors[places] = found
    return vectors, len(places)
