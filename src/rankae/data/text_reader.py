"""From a text to its words: what is read of a text, before any vocabulary."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from rankae.data.html import is_html, share_of_html, strip_html
from rankae.data.hyphens import join_broken_words, words_are_broken
from rankae.data.tokens import VERSION, WORD, Tokenizer, characters, pieces
from rankae.data.vectors import TextWithVector
from rankae.errors import DataError

_CHOICES = {
    "analyzer": ("word", "word+char", "char"),
    "html": ("strip", "keep", "auto"),
    "hyphens": ("join", "keep", "auto"),
}
_SWITCHES = ("sublinear", "idf", "norm", "pieces", "lowercase")


@dataclass(eq=False, repr=False)
class TextSettings:
    """The parameters of `rankae.data.text.TextFeatures`, which describes them."""

    ngrams: tuple[int, int] = (1, 1)
    min_df: int = 2
    min_df_longer: int | None = None
    max_features: int | None = None
    sublinear: bool = True
    idf: bool = True
    norm: bool = True
    title: float = 0.0
    pieces: bool = False
    analyzer: str = "word"
    token_pattern: str = WORD
    lowercase: bool = True
    accents: str = "keep"
    html: str = "auto"
    hyphens: str = "auto"
    tokenizer: int = VERSION

    def __post_init__(self) -> None:
        low, high = self.ngrams
        if not 1 <= low <= high:
            raise DataError(f"ngrams is {self.ngrams}; give the shortest and the longest length, such as (1, 2)")
        self.ngrams = (int(low), int(high))
        for name in ("min_df", "min_df_longer", "max_features"):
            value = getattr(self, name)
            if (value is None and name == "min_df") or (value is not None and value < 1):
                raise DataError(f"{name} must be at least 1")
        if not 0 <= self.title < np.inf:
            raise DataError(f"title is {self.title}; the weight of a title's words must be at least 0")
        for name, known in _CHOICES.items():
            if getattr(self, name) not in known:
                listed = f"{', '.join(known[:-1])} or {known[-1]}"
                raise DataError(f"{name} is {getattr(self, name)!r}; it must be {listed}")
        for name in _SWITCHES:
            if not isinstance(getattr(self, name), bool | np.bool_):
                raise DataError(f"{name} is {getattr(self, name)!r}; it must be true or false")

    def settings(self) -> dict[str, Any]:
        """The parameters as JSON values."""
        values = {field.name: getattr(self, field.name) for field in fields(TextSettings)}
        return values | {"ngrams": list(self.ngrams)}


class TextReader(TextSettings):
    """Reads the words of texts. `html` and `hyphens` are what "auto" came to, once `settle` has seen the texts."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._tokens = Tokenizer(self.token_pattern, self.lowercase, self.accents, self.tokenizer)

    def settle(self, texts: Sequence[str]) -> None:
        """Decide from the training texts what is left to "auto"."""
        if self.html == "auto":
            self.html = "strip" if is_html(share_of_html(texts)) else "keep"
        if self.hyphens == "auto":
            self.hyphens = "join" if words_are_broken(texts) else "keep"

    def plain(self, text: str) -> str:
        """The text without tags, if they are to be stripped, and with broken words joined."""
        read: str = strip_html(text) if self.html == "strip" else text
        read = join_broken_words(read) if self.hyphens == "join" else read
        return TextWithVector.of(read, text.vector) if isinstance(text, TextWithVector) else read

    def shown(self, texts: Sequence[str]) -> Sequence[str]:
        """The texts as an encoder reads them; those with vectors of their own stay as they are."""
        changed = self.html == "strip" or self.hyphens == "join"
        return [self.plain(text) for text in texts] if changed else texts

    def words_in(self, text: str) -> list[str]:
        """The words of a text, whether they are known or not."""
        return self._tokens(self.plain(text))

    def spans(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Where each word of a plain text begins and ends, and how it is read."""
        return self._tokens.spans(text)

    def read_as(self, word: str) -> list[str]:
        """A word of `spans` and its parts that may be features by themselves."""
        words = [word, *pieces([word])] if self.pieces else [word]
        return words if self.analyzer == "word" else words + characters(words)

    def token_lists(self, texts: Iterable[str], part: Callable[[str], str] = str) -> Iterator[list[str]]:
        """The words of `part` of each text: by default of all of it."""
        tokens = self._tokens
        for i, text in enumerate(texts):
            words = tokens(part(self.plain(checked_text(text, i))))
            if self.pieces:
                words = words + pieces(words)
            yield characters(words) if self.analyzer == "char" else words

    def grams(self, tokens: list[str]) -> list[str]:
        """The runs of words of the lengths `ngrams`."""
        low, high = self.ngrams
        if high == 1:
            return tokens
        grams = tokens[:] if low == 1 else []
        for n in range(max(2, low), high + 1):
            grams.extend(map(" ".join, zip(*(tokens[i:] for i in range(n)), strict=False)))
        return grams


def checked_text(text: Any, row: int) -> str:
    if not isinstance(text, str):
        raise DataError(f"row {row}: a text was expected, not {type(text).__name__}")
    return text


def title_of(text: str) -> str:
    """The first line, if more lines follow; otherwise nothing."""
    first, _, rest = text.strip().partition("\n")
    return first if rest else ""
