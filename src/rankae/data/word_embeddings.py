"""Reads word embeddings from GloVe text files, which have a word and its vector on each line."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rankae.data.opening import open_data, text_lines
from rankae.data.sources import data_folders, find_source
from rankae.errors import DataError

MOST_DIMENSIONS = 4096


@dataclass(frozen=True, eq=False)
class WordEmbeddings:
    """Vectors of words: similar words have similar directions.

    vectors : float32 [words, dimensions]; vectors of one source have length 1, or 0 if the source lacks the word.
    source : description of their origin, such as the file and the number of words it has.
    """

    vectors: np.ndarray
    source: str


def find_glove() -> Path | None:
    """The first file in the folder `glove` of the data folders, if there is one."""
    for folder in data_folders():
        if files := sorted((folder / "glove").glob("*.txt*")):
            return files[0]
    return None


def read_glove(
    path: str | Path, limit: int | None = None, only: Container[str] | None = None
) -> tuple[list[str], np.ndarray]:
    """Words and their vectors (float32 [words, dimensions]) from `path`, plain or compressed.

    A first line with two counts, as in word2vec's text files, is skipped.

    limit : number of words to read; GloVe's files begin with the most frequent ones.
    only : words to read, without blanks.
    """
    words: list[str] = []
    vectors: list[np.ndarray] = []
    n = header = 0
    with open_data(path) as stream:
        for number, line in text_lines(stream, str(path)):
            if limit is not None and number - header > limit:
                break
            if n and only is not None and line.partition(" ")[0] not in only:
                continue
            # A few of GloVe's words hold blanks, so the vector is what stands at the end.
            fields = line.rstrip().split(" ")
            if number == 1 and len(fields) == 2 and all(field.isascii() and field.isdigit() for field in fields):
                header, n = 1, min(int(fields[1][:9]), MOST_DIMENSIONS + 1)
                continue
            n = n or len(fields) - 1
            if n < 1 or n > MOST_DIMENSIONS or len(fields) <= n:
                raise DataError(f"{path}, line {number}: {len(fields) - 1} numbers where {n or 'some'} were expected")
            word = " ".join(fields[:-n])
            if only is not None and word not in only:
                continue
            try:
                vector = np.fromiter(map(float, fields[-n:]), np.float32, n)
            except ValueError:
                raise DataError(f"{path}, line {number}: not a word and {n} numbers") from None
            if not np.isfinite(vector).all():
                raise DataError(f"{path}, line {number}: the vector holds NaN or infinite numbers")
            words.append(word)
            vectors.append(vector)
    if not n:
        raise DataError(f"{path}: there are no word vectors in the file")
    return words, np.stack(vectors) if vectors else np.empty((0, n), dtype=np.float32)


def glove_size(path: str | Path) -> int:
    """The dimension of the vectors of a file."""
    return read_glove(path, limit=1)[1].shape[1]


def known_vectors(words: Sequence[str], path: str | Path, size: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Indices of the `words` that the file has, their vectors, and the standard deviation of all numbers in the file.

    path : as for a data set, also relative to RANKAE_DATA.
    """
    names, vectors = read_glove(find_source(path))
    if vectors.shape[1] != size:
        raise DataError(
            f"{path} has vectors of {vectors.shape[1]} numbers: set the size of word vectors to that, not {size}"
        )
    row = {name: i for i, name in enumerate(names)}
    places = [i for i, word in enumerate(words) if word in row]
    known = vectors[[row[words[i]] for i in places]]
    return np.array(places, dtype=np.int64), known, float(vectors.std())


def glove_embeddings(words: Sequence[str], path: str | Path) -> WordEmbeddings:
    """Unit vectors of these words from a file; the vector of a word pair is the sum of both."""
    single = {word for feature in words for word in feature.split(" ")}
    names, vectors = read_glove(find_source(path), only=single)
    row = {name: i for i, name in enumerate(names)}
    vectors_of = np.zeros((len(words), vectors.shape[1]), dtype=np.float32)
    for i, feature in enumerate(words):
        parts = feature.split(" ")
        if all(word in row for word in parts):
            vectors_of[i] = vectors[[row[word] for word in parts]].sum(axis=0)
    lengths = np.linalg.norm(vectors_of, axis=1, keepdims=True)
    vectors_of /= np.maximum(lengths, np.finfo(np.float32).tiny)
    return WordEmbeddings(
        vectors_of, f"{Path(path).name}, which knows {np.count_nonzero(lengths)} of {len(words)} features"
    )


def starting_vectors(words: Sequence[str], path: str | Path, size: int, seed: int) -> tuple[np.ndarray, int]:
    """A vector for each of `words` (float32), and the number of words that the file has.

    The vectors of other words are random, with the same standard deviation.
    """
    places, known, spread = known_vectors(words, path, size)
    vectors = np.random.default_rng(seed).normal(0, spread, (len(words), size)).astype(np.float32)
    vectors[places] = known
    return vectors, len(places)
