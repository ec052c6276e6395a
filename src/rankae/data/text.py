"""From raw text to weighted words: tokens, n-grams, vocabulary limits, (sublinear) tf-idf, L2 norm."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, repeat
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from rankae.data.html import is_html, share_of_html, strip_html
from rankae.data.hyphens import join_broken_words, words_are_broken
from rankae.data.tokens import VERSION, WORD, Tokenizer, characters, pieces
from rankae.data.vectors import TextWithVector, VectorBlock
from rankae.errors import DataError

_NOTHING = np.empty(0, dtype=np.int32)
_TITLE = "title:"  # begins the name of a title's feature
ANALYZERS = ("word", "word+char", "char")
MOST_CHARACTERS = 100_000  # runs of them that are features


class TextFeatures:
    """Weighted words of a document, with a vocabulary learnt from training texts only.

    Parameters
    ----------
    ngrams : shortest and longest run of words that makes a feature.
    min_df : a feature must occur in at least so many documents. Texts so few that none does keep all their words.
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

    def __init__(
        self,
        ngrams: tuple[int, int] = (1, 1),
        min_df: int = 2,
        max_features: int | None = None,
        sublinear: bool = True,
        idf: bool = True,
        norm: bool = True,
        title: float = 0.0,
        pieces: bool = False,
        analyzer: str = "word",
        token_pattern: str = WORD,
        lowercase: bool = True,
        accents: str = "keep",
        html: str = "auto",
        hyphens: str = "auto",
        tokenizer: int = VERSION,
    ) -> None:
        low, high = ngrams
        if not 1 <= low <= high:
            raise DataError(f"ngrams is {ngrams}; give the shortest and the longest length, such as (1, 2)")
        if min_df < 1 or (max_features is not None and max_features < 1):
            raise DataError("min_df and max_features must be at least 1")
        if not 0 <= title < np.inf:
            raise DataError(f"title is {title}; the weight of a title's words must be at least 0")
        if analyzer not in ANALYZERS:
            raise DataError(f"analyzer is {analyzer!r}; it must be {', '.join(ANALYZERS[:-1])} or {ANALYZERS[-1]}")
        switches = {"sublinear": sublinear, "idf": idf, "norm": norm, "pieces": pieces, "lowercase": lowercase}
        for name, value in switches.items():
            if not isinstance(value, bool | np.bool_):
                raise DataError(f"{name} is {value!r}; it must be true or false")
        if html not in ("strip", "keep", "auto"):
            raise DataError(f"html is {html!r}; it must be strip, keep or auto")
        if hyphens not in ("join", "keep", "auto"):
            raise DataError(f"hyphens is {hyphens!r}; it must be join, keep or auto")
        self._tokens = Tokenizer(token_pattern, lowercase, accents, tokenizer)
        self.ngrams = (int(low), int(high))
        self.min_df = min_df
        self.max_features = max_features
        self.sublinear = sublinear
        self.idf = idf
        self.norm = norm
        self.title = title
        self.pieces = pieces
        self.token_pattern = token_pattern
        self.analyzer = analyzer
        self.lowercase = lowercase
        self.accents = accents
        self.html, self.hyphens = html, hyphens
        self.words: list[str] = []
        self.of_titles = 0  # how many of them, the last ones, are features of titles
        self.word_weights = np.empty(0, dtype=np.float32)
        self._column: dict[str, int] = {}
        self.block: VectorBlock | None = None
        self._characters: TextFeatures | None = None
        if analyzer == "word+char":
            alike = {"token_pattern": token_pattern, "lowercase": lowercase, "accents": accents}
            most = min(max_features or MOST_CHARACTERS, MOST_CHARACTERS)
            own = {"sublinear": sublinear, "idf": idf, "norm": norm, "analyzer": "char"}
            own |= {"html": html, "hyphens": hyphens}
            self._characters = TextFeatures((1, 1), min_df + 1, most, tokenizer=tokenizer, **own, **alike)  # type: ignore[arg-type]

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
        if self.html == "auto":
            self.html = "strip" if is_html(share_of_html(texts)) else "keep"
        if self.hyphens == "auto":
            self.hyphens = "join" if words_are_broken(texts) else "keep"
        if self.title:
            of_titles = self._token_lists(texts, title_of)
            titles = count_grams(of_titles, self.ngrams, self.min_df, most and -(-most // 5))
            most = most and max(1, most - len(titles[1]))
        counts, words = count_grams(self._token_lists(texts), self.ngrams, self.min_df, most)
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
        if self._characters is None:
            return rows
        self._characters.html, self._characters.hyphens = self.html, self.hyphens
        return sp.hstack([rows, self._characters.fit_words(texts)], format="csr")

    def fit(self, texts: Sequence[str]) -> Self:
        self.fit_transform(texts)
        return self

    def transform(self, texts: Sequence[str]) -> sp.csr_matrix:
        """Weighted words and vectors of `texts`; words outside the vocabulary are ignored."""
        # No Python step for each word: half of what a document costs would go there.
        column, unknown = self._column.get, repeat(-1)
        indices, counts = [_NOTHING], [_NOTHING]
        titles = self._token_lists(texts, title_of) if self.title else repeat([])
        for tokens, title in zip(self._token_lists(texts), titles, strict=False):
            grams = self._grams(tokens)
            if title:
                grams = grams + list(map(_TITLE.__add__, self._grams(title)))
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
        if self._characters is not None:
            weighted = sp.hstack([weighted, self._characters.transform(texts)], format="csr")
        if self.block is None:
            return weighted
        return self.block.beside(weighted, self.block.vectors(self.shown(texts)))

    def sequences(self, texts: Sequence[str], longest: int) -> list[np.ndarray]:
        """The columns of each text's first known words, in their order, for encoders that read documents."""
        column = self._column
        column_lists = ([column[word] for word in tokens if word in column] for tokens in self._token_lists(texts))
        return [np.array(columns[:longest], dtype=np.int32) for columns in column_lists]

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray], list[str]]:
        """Settings (JSON values), arrays and words, from which `from_state` builds the same object."""
        settings = {
            "ngrams": list(self.ngrams),
            "min_df": self.min_df,
            "max_features": self.max_features,
            "sublinear": self.sublinear,
            "idf": self.idf,
            "norm": self.norm,
            "title": self.title,
            "pieces": self.pieces,
            "of_titles": self.of_titles,
            "analyzer": self.analyzer,
            "token_pattern": self.token_pattern,
            "lowercase": self.lowercase,
            "accents": self.accents,
            "html": self.html,
            "hyphens": self.hyphens,
            "tokenizer": self._tokens.version,
            "vectors": None if self.block is None else self.block.state(),
        }
        if self._characters is None:
            return settings, {"word_weights": self.word_weights}, self.words
        own = self._characters
        settings["characters"] = len(own.words)
        return settings, {"word_weights": np.concatenate([self.word_weights, own.word_weights])}, self.words + own.words

    @classmethod
    def from_state(cls, settings: dict[str, Any], arrays: dict[str, np.ndarray], words: list[str]) -> Self:
        as_before = {"tokenizer": 1, "html": "keep", "hyphens": "keep"}  # of models that say nothing of these
        settings = {**as_before, **settings, "ngrams": tuple(settings["ngrams"])}
        of_titles = settings.pop("of_titles", 0)  # older models know no titles
        vectors, characters_known = settings.pop("vectors", None), settings.pop("characters", 0)
        text = cls(**settings)
        weights = arrays["word_weights"]
        if weights.shape != (len(words),):
            raise DataError(f"{len(words)} words have {weights.shape} weights")
        if characters_known:
            if text._characters is None or not 0 < characters_known <= len(words):
                raise DataError(f"{characters_known} of {len(words)} features cannot be of characters")
            first = len(words) - characters_known
            text._characters._set_vocabulary(words[first:], weights[first:])
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
        of_texts += [] if self._characters is None else self._characters.words
        return of_texts if self.block is None else of_texts + self.block.columns

    def _set_vocabulary(self, words: list[str], weights: np.ndarray) -> None:
        self.words = words
        self.word_weights = weights
        self._column = {word: i for i, word in enumerate(words)}

    def _token_lists(self, texts: Iterable[str], read: Callable[[str], str] = str) -> Iterable[list[str]]:
        """The words of what `read` takes from each text: by default all of it."""
        tokens = self._tokens
        for i, text in enumerate(texts):
            words = tokens(read(self.plain(checked_text(text, i))))
            if self.pieces:
                words = words + pieces(words)
            yield characters(words) if self.analyzer == "char" else words

    def shown(self, texts: Sequence[str]) -> Sequence[str]:
        """The texts as an encoder reads them; those with vectors of their own stay as they are."""
        changed = self.html == "strip" or self.hyphens == "join"
        return [self.plain(text) for text in texts] if changed else texts

    def plain(self, text: str) -> str:
        """The text as it is read: without tags, if they are to be stripped, and with broken words joined."""
        read: str = strip_html(text) if self.html == "strip" else text
        read = join_broken_words(read) if self.hyphens == "join" else read
        return TextWithVector.of(read, text.vector) if isinstance(text, TextWithVector) else read

    @property
    def width(self) -> int:
        """Columns of a row: words and the numbers of vectors."""
        of_characters = 0 if self._characters is None else len(self._characters.words)
        return len(self.words) + of_characters + (0 if self.block is None else self.block.size)

    @property
    def of_characters(self) -> TextFeatures | None:
        """What reads runs of characters into the columns behind those of words, if they are read besides."""
        return self._characters

    def words_in(self, text: str) -> list[str]:
        """The words of a text, whether they are known or not."""
        return self._tokens(self.plain(text))

    def columns_of(self, words: Iterable[str]) -> dict[str, list[int]]:
        """The columns of each word: of texts, and of titles."""
        column = self._column
        return {word: [column[at] for at in (word, _TITLE + word) if at in column] for word in words}

    def spans(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Where each word of a plain text begins and ends, and how it is read."""
        return self._tokens.spans(text)

    def read_as(self, word: str) -> list[str]:
        """A word of `spans` and its parts that may be features by themselves."""
        words = [word, *pieces([word])] if self.pieces else [word]
        return words if self.analyzer == "word" else words + characters(words)

    def _grams(self, tokens: list[str]) -> list[str]:
        low, high = self.ngrams
        if high == 1:
            return tokens
        grams = tokens[:] if low == 1 else []
        for n in range(max(2, low), high + 1):
            grams.extend(map(" ".join, zip(*(tokens[i:] for i in range(n)), strict=False)))
        return grams

    def _weighted(self, counts: sp.csr_matrix) -> sp.csr_matrix:
        """Turn counts into weights, in place."""
        from rankae.data.word_weights import weigh  # numba takes a while to import

        titles = len(self.words) - self.of_titles, np.float32(self.title)
        weigh(counts.indptr, counts.indices, counts.data, self.word_weights, self.sublinear, self.norm, *titles)
        return counts


def checked_text(text: Any, row: int) -> str:
    if not isinstance(text, str):
        raise DataError(f"row {row}: a text was expected, not {type(text).__name__}")
    return text


def title_of(text: str) -> str:
    """The first line, if more lines follow; otherwise nothing."""
    first, _, rest = text.strip().partition("\n")
    return first if rest else ""
