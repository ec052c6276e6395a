"""From raw text to weighted words: tokens, n-grams, vocabulary limits, (sublinear) tf-idf, L2 norm."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, repeat
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from rankae.data.text_reader import TextReader, title_of
from rankae.data.vectors import VectorBlock
from rankae.errors import DataError

_NOTHING = np.empty(0, dtype=np.int32)
_TITLE = "title:"  # begins the name of a title's feature
MOST_CHARACTERS = 100_000  # runs of them that are features


class TextFeatures(TextReader):
    """Weighted words of a document, with a vocabulary learnt from training texts only.

    Parameters
    ----------
    ngrams : shortest and longest run of words that makes a feature.
    min_df : a feature must occur in at least so many documents. Texts so few that none does keep all their words.
    min_df_longer : the same for runs of several words; by default as many.
    max_features : keep only the features of most documents; titles may take a fifth of them.
    sublinear : 1 + ln(count) in place of the count.
    idf : weigh by ln((1 + rows) / (1 + rows with the word)) + 1.
    norm : scale each row to length 1.
    title : a title, which is a first line that more lines follow, has features of its own besides; together they
        weigh so many times as much as all others of the row. 0 for none.
    pieces : compounds such as libgmp3-dev are read piece by piece besides (see `rankae.data.tokens.pieces`).
    analyzer : "word"; "char" for the runs of 4 characters that words hold; "word+char" for both, each of
        length 1, so that words are not drowned.
    token_pattern, lowercase, accents : what counts as a word, see `rankae.data.tokens.Tokenizer`.
    html : "strip" to read what a page shows, "keep" to read tags as words, "auto" to strip where many texts have tags.
    hyphens : "join" to read words that are broken at the end of a line as one, "keep" to read their halves, "auto" to
        join where the texts tell that words are broken.
    tokenizer : version of the rules by which words are cut.

    Attributes
    ----------
    html, hyphens : what "auto" came to, from `fit` on.
    of_characters : the features of runs of characters, in the columns behind those of words; None for none.
    block : the vectors that a text has besides its words, in the columns behind them; None for none. Texts that carry
        vectors of the user's have such a block from `fit` on, an encoder's is set by whoever wants it.
    words : the vocabulary, most frequent first, so that the busy part of any table by word stays in cache.

    Examples
    --------
    >>> text = TextFeatures(min_df=1)
    >>> text.fit_transform(["red apple", "red, red wine"]).shape
    (2, 3)
    >>> text.words
    ['red', 'apple', 'wine']
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        self.words: list[str] = []
        self.of_titles = 0  # how many of them, the last ones, are features of titles
        self.word_weights = np.empty(0, dtype=np.float32)
        self._column: dict[str, int] = {}
        self.block: VectorBlock | None = None
        self.of_characters: TextFeatures | None = None
        if self.analyzer == "word+char":
            most = min(self.max_features or MOST_CHARACTERS, MOST_CHARACTERS)
            own = {"ngrams": (1, 1), "min_df": self.min_df + 1, "max_features": most, "title": 0.0, "pieces": False}
            self.of_characters = TextFeatures(**self.settings() | own | {"analyzer": "char"})

    def fit_transform(self, texts: Sequence[str]) -> sp.csr_matrix:
        """Learn vocabulary and weights from `texts`; return their weighted words and vectors, CSR float32."""
        words = self.fit_words(texts)
        if self.block is None:
            self.block = VectorBlock.given_with(texts)
        return words if self.block is None else self.put_beside(words, self.block, texts)

    def put_beside(self, words: sp.csr_matrix, block: VectorBlock, texts: Sequence[str]) -> sp.csr_matrix:
        """Take `block` for the vectors beside words, and put those of `texts` beside their words."""
        self.block = block
        return block.beside(words, block.vectors(self.shown(texts)))

    def fit_words(self, texts: Sequence[str]) -> sp.csr_matrix:
        """Learn vocabulary and weights from `texts`; return their weighted words alone, CSR float32."""
        from rankae.data.vocabulary import count_grams

        most, titles = self.max_features, None
        self.settle(texts)
        if self.title:
            of_titles = self.token_lists(texts, title_of)
            titles = count_grams(of_titles, self.ngrams, self.min_df, most and -(-most // 5), self.min_df_longer)
            most = most and max(1, most - len(titles[1]))
        counts, words = count_grams(self.token_lists(texts), self.ngrams, self.min_df, most, self.min_df_longer)
        if not words and VectorBlock.given_with(texts) is None:
            raise DataError("the training texts hold no words")
        if titles is not None:
            counts = sp.hstack([counts, titles[0]], format="csr")
            words += [_TITLE + word for word in titles[1]]
            self.of_titles = len(titles[1])
        frequency = np.bincount(counts.indices, minlength=len(words))
        weights = np.log((1 + counts.shape[0]) / (1 + frequency)) + 1 if self.idf else np.ones(len(words))
        self._set_vocabulary(words, weights.astype(np.float32))
        rows = self._weighted(counts)
        if self.of_characters is None:
            return rows
        self.of_characters.html, self.of_characters.hyphens = self.html, self.hyphens
        return sp.hstack([rows, self.of_characters.fit_words(texts)], format="csr")

    def fit(self, texts: Sequence[str]) -> Self:
        self.fit_transform(texts)
        return self

    def transform(self, texts: Sequence[str]) -> sp.csr_matrix:
        """Weighted words and vectors of `texts`; words outside the vocabulary are ignored."""
        # No Python step for each word: half of what a document costs would go there.
        column, unknown = self._column.get, repeat(-1)
        indices, counts = [_NOTHING], [_NOTHING]
        titles = self.token_lists(texts, title_of) if self.title else repeat([])
        for tokens, title in zip(self.token_lists(texts), titles, strict=False):
            grams = self.grams(tokens)
            if title:
                grams = grams + list(map(_TITLE.__add__, self.grams(title)))
            columns_of_text = np.fromiter(chain((-1,), map(column, grams, unknown)), np.int32, len(grams) + 1)
            columns_of_text.sort()  # what is unknown comes first, so that only known words differ from the one before
            begins = np.flatnonzero(columns_of_text[1:] != columns_of_text[:-1]) + 1
            indices.append(columns_of_text[begins])
            counts.append(np.diff(begins, append=len(columns_of_text)))
        indptr = np.cumsum(list(map(len, indices)))
        values = np.concatenate(counts).astype(np.float32)
        matrix = sp.csr_matrix((values, np.concatenate(indices), indptr), shape=(len(indices) - 1, len(self.words)))
        matrix.has_canonical_format = True  # scipy would look for itself
        weighted = self._weighted(matrix)
        if self.of_characters is not None:
            weighted = sp.hstack([weighted, self.of_characters.transform(texts)], format="csr")
        if self.block is None:
            return weighted
        return self.block.beside(weighted, self.block.vectors(self.shown(texts)))

    def sequences(self, texts: Sequence[str], longest: int) -> list[np.ndarray]:
        """The columns of each text's first known words, in their order, for encoders that read documents."""
        column = self._column
        column_lists = ([column[word] for word in tokens if word in column] for tokens in self.token_lists(texts))
        return [np.array(columns[:longest], dtype=np.int32) for columns in column_lists]

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray], list[str]]:
        """Settings (JSON values), arrays and words, from which `from_state` builds the same object."""
        settings = self.settings() | {"of_titles": self.of_titles}
        settings["vectors"] = None if self.block is None else self.block.state()
        if self.of_characters is None:
            return settings, {"word_weights": self.word_weights}, self.words
        own = self.of_characters
        settings["characters"] = len(own.words)
        return settings, {"word_weights": np.concatenate([self.word_weights, own.word_weights])}, self.words + own.words

    @classmethod
    def from_state(cls, settings: dict[str, Any], arrays: dict[str, np.ndarray], words: list[str]) -> Self:
        # The first three are for models that say nothing of these.
        settings = {"tokenizer": 1, "html": "keep", "hyphens": "keep", **settings}
        of_titles = settings.pop("of_titles", 0)  # older models know no titles
        vectors, characters_known = settings.pop("vectors", None), settings.pop("characters", 0)
        text = cls(**settings)
        weights = arrays["word_weights"]
        if weights.shape != (len(words),):
            raise DataError(f"{len(words)} words have {weights.shape} weights")
        if characters_known:
            if text.of_characters is None or not 0 < characters_known <= len(words):
                raise DataError(f"{characters_known} of {len(words)} features cannot be of characters")
            first = len(words) - characters_known
            text.of_characters._set_vocabulary(words[first:], weights[first:])
            words, weights = words[:first], weights[:first]
        if not 0 <= of_titles <= len(words):
            raise DataError(f"{of_titles} of {len(words)} words cannot be of titles")
        text._set_vocabulary(words, weights)
        text.of_titles = of_titles
        text.block = None if vectors is None else VectorBlock.from_state(vectors)
        return text

    def spelled(self) -> list[str]:
        """The words of each feature, with blanks between, be it of a title or not; and names for numbers of vectors."""
        first = len(self.words) - self.of_titles
        of_texts = self.words[:first] + [word.removeprefix(_TITLE) for word in self.words[first:]]
        of_texts += [] if self.of_characters is None else self.of_characters.words
        return of_texts if self.block is None else of_texts + self.block.columns

    def _set_vocabulary(self, words: list[str], weights: np.ndarray) -> None:
        self.words = words
        self.word_weights = weights
        self._column = {word: i for i, word in enumerate(words)}

    @property
    def width(self) -> int:
        """Columns of a row: words and the numbers of vectors."""
        of_characters = 0 if self.of_characters is None else len(self.of_characters.words)
        return len(self.words) + of_characters + (0 if self.block is None else self.block.size)

    def least_rows(self) -> np.ndarray:
        """Of each column, how many training texts the vocabulary demands."""
        longer = [" " in word.removeprefix(_TITLE) for word in self.words]
        least = np.where(longer, self.min_df_longer or self.min_df, self.min_df)
        of_others = np.full(self.width - len(least), self.min_df)
        return np.concatenate([least, of_others]).astype(np.int64)

    def columns_of(self, words: Iterable[str]) -> dict[str, list[int]]:
        """The columns of each word: of texts, and of titles."""
        column = self._column
        return {word: [column[at] for at in (word, _TITLE + word) if at in column] for word in words}

    def _weighted(self, counts: sp.csr_matrix) -> sp.csr_matrix:
        """Turn counts into weights, in place."""
        from rankae.data.word_weights import weigh  # numba takes a while to import

        titles = len(self.words) - self.of_titles, np.float32(self.title)
        weigh(counts.indptr, counts.indices, counts.data, self.word_weights, self.sublinear, self.norm, *titles)
        return counts
