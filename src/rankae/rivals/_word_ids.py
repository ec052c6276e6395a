"""Raw texts as sequences of word numbers, for networks that read words in order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from rankae.data.tokens import Tokenizer
from rankae.errors import DataError

PADDING, UNKNOWN, FIRST_WORD = 0, 1, 2


class WordIds:
    """A vocabulary of the most frequent words; 0 pads a sequence and 1 stands for any other word.

    Parameters
    ----------
    words : the vocabulary, most frequent first; `learn` finds it.
    longest : words of a document that are read.
    """

    def __init__(self, words: Sequence[str], longest: int) -> None:
        self.words = list(words)
        self.longest = longest
        self._ids = {word: i for i, word in enumerate(self.words, FIRST_WORD)}

    @classmethod
    def learn(cls, texts: Iterable[str], size: int, longest: int) -> Self:
        """The `size` most frequent words of the texts; equally frequent ones in the order of the alphabet.

        Words that occur once are left out: they would only identify their row, and so the network learns what an
        unknown word looks like.
        """
        counts = Counter(word for tokens in tokens_of(texts) for word in tokens)
        frequent = [word for word, count in counts.items() if count > 1] or list(counts)
        return cls(sorted(frequent, key=lambda word: (-counts[word], word))[:size], longest)

    def __len__(self) -> int:
        return FIRST_WORD + len(self.words)

    def read(self, texts: Iterable[str]) -> Sequences:
        """The word numbers of each text."""
        ids = [
            np.fromiter((self._ids.get(word, UNKNOWN) for word in tokens[: self.longest]), dtype=np.int32)
            for tokens in tokens_of(texts)
        ]
        starts = np.zeros(len(ids) + 1, dtype=np.int64)
        np.cumsum([len(row) for row in ids], out=starts[1:])
        return Sequences(np.concatenate([*ids, np.zeros(0, np.int32)]), starts)

    def to_array(self) -> np.ndarray:
        """The vocabulary as UTF-8 bytes, one word a line, for a model file."""
        return np.frombuffer("\n".join(self.words).encode(), dtype=np.uint8)

    @classmethod
    def from_array(cls, text: np.ndarray, longest: int) -> Self:
        return cls(text.tobytes().decode().splitlines(), longest)


@dataclass(frozen=True)
class Sequences:
    """Rows of different lengths, one after another in `ids`; row i is `ids[starts[i]:starts[i + 1]]`."""

    ids: np.ndarray
    starts: np.ndarray

    @property
    def lengths(self) -> np.ndarray:
        return np.diff(self.starts)

    def padded(self, rows: np.ndarray) -> np.ndarray:
        """The given rows, rows x longest of them, padded at the end; at least one column wide."""
        lengths = self.lengths[rows]
        block = np.full((len(rows), max(1, lengths.max(initial=1))), PADDING, dtype=np.int64)
        for i, row in enumerate(rows):
            block[i, : lengths[i]] = self.ids[self.starts[row] : self.starts[row + 1]]
        return block


def tokens_of(texts: Iterable[str]) -> Iterator[list[str]]:
    """The words of each text, lower case, cut as `TextFeatures` cuts them by default."""
    words_of = Tokenizer()
    for row, text in enumerate(texts):
        if not isinstance(text, str):
            raise DataError(f"row {row}: a text was expected, not {type(text).__name__}")
        yield words_of(text)
