"""GloVe's text files: a word and its vector a line."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from rankae.data.opening import open_data, text_lines
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
