"""Encodes texts: splits them into subwords and windows, batches windows by length, and caches vectors on disk."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from rankae.data.encoders.cache import VectorCache, text_keys
from rankae.errors import DataError
from rankae.progress import bar, log

MOST_WINDOWS = 4  # of one text, so that a sentence encoder reads at most about a thousand words of it
_TOKENS_AT_ONCE = 4096
_TEXTS_AT_ONCE = 2048  # texts whose vectors are cached at once, the most that a killed process loses
_CHARACTERS = 12  # upper bound of the mean length of a subword; texts are truncated accordingly
_LOGGED_FROM = 60  # seconds
_FEW = 64  # fewer texts are not cached


class Vectors(Protocol):
    """The part of an encoder that maps subwords to a vector: a network or a table."""

    size: int
    window: int | None  # subwords that are read at once; None for any number

    def pooled(self, tokens: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        """The vectors, float32, of a batch of windows: int64 windows x longest of them, padded with 0."""


class Encoder:
    """A pretrained encoder of texts.

    Attributes
    ----------
    name : of its folder or package.
    digest : hash of everything that its vectors depend on, so that vectors of different encoders are never mixed.
    size : dimension of a vector.
    quick : whether it is a table, which encodes a text in well under a millisecond.
    """

    def __init__(self, name: str, digest: str, tokenizer: Any, vectors: Vectors, cached: bool = True) -> None:
        self.name, self.digest, self.size = name, digest, vectors.size
        self.quick = vectors.window is None
        self._tokenizer, self._vectors, self._cached = tokenizer, vectors, cached and not self.quick
        tokenizer.no_truncation()
        tokenizer.no_padding()

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """A vector of length 1 for each text, float32; of a text without words, zeros."""
        if not self._cached or len(texts) < _FEW:
            return self._encoded(texts)
        cache = VectorCache(self.digest, self.size)
        keys = text_keys(texts)
        vectors, missing = cache.get(keys)
        to_encode = np.array(
            list({keys[i].tobytes(): i for i in missing.tolist()}.values()), dtype=np.int64
        )  # each text once
        # Long texts first, so that the remaining time is over- rather than underestimated.
        to_encode = to_encode[np.argsort([-len(texts[i]) for i in to_encode.tolist()], kind="stable")]
        if (seconds := self.seconds([texts[i] for i in to_encode.tolist()])) > _LOGGED_FROM:
            log.info("reading %d texts with %s takes about %.0f minutes", len(to_encode), self.name, seconds / 60)
        with bar(f"reading texts with {self.name}", len(to_encode)) as progress:
            for begin in range(0, len(to_encode), _TEXTS_AT_ONCE):
                block = to_encode[begin : begin + _TEXTS_AT_ONCE]
                cache.add(keys[block], self._encoded([texts[i] for i in block.tolist()]))
                progress.advance(len(block))
        if len(to_encode):
            vectors, missing = cache.get(keys)
            if len(missing):
                raise DataError(f"the cache of {self.name} in {cache.path} loses what is written to it; delete it")
        return vectors

    def seconds(self, texts: Sequence[str], sample: int = 24) -> float:
        """Estimated seconds of `encode`, timed on a few of the texts that are not cached."""
        if self.quick or len(texts) < _FEW:
            return 0.0
        missing = (
            VectorCache(self.digest, self.size).missing(text_keys(texts)) if self._cached else np.arange(len(texts))
        )
        if not len(missing):
            return 0.0
        texts_to_time = np.random.default_rng(0).permutation(missing)[:sample].tolist()
        self._encoded([texts[texts_to_time[0]]])  # what is slow only once
        began = time.perf_counter()
        self._encoded([texts[i] for i in texts_to_time])
        return (time.perf_counter() - began) * len(missing) / len(texts_to_time)

    def _encoded(self, texts: Sequence[str]) -> np.ndarray:
        windows, text_of = self._windows(texts)
        lengths = np.fromiter(map(len, windows), np.int64, len(windows))
        summed = np.zeros((len(texts), self.size), dtype=np.float32)
        order = np.argsort(lengths, kind="stable")
        order = order[lengths[order] > 0]
        begin = 0
        while begin < len(order):
            end = begin + 1
            while end < len(order) and (end - begin + 1) * lengths[order[end]] <= _TOKENS_AT_ONCE:
                end += 1
            batch = order[begin:end]
            tokens = np.zeros((len(batch), lengths[batch[-1]]), dtype=np.int64)
            for i, window in enumerate(batch.tolist()):
                tokens[i, : lengths[window]] = windows[window]
            vectors = self._vectors.pooled(tokens, lengths[batch])
            np.add.at(summed, text_of[batch], _unit(vectors) * lengths[batch, None].astype(np.float32))
            begin = end
        return _unit(summed)

    def _windows(self, texts: Sequence[str]) -> tuple[list[list[int]], np.ndarray]:
        """The subwords of each text, in windows, and the text of each window."""
        size, special = self._vectors.window, self._tokenizer.num_special_tokens_to_add(False)
        if size is None:
            encodings = self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
            return [encoding.ids for encoding in encodings], np.arange(len(texts))
        most = MOST_WINDOWS * size * _CHARACTERS
        encodings = self._tokenizer.encode_batch_fast([text[:most] for text in texts], add_special_tokens=False)
        windows, text_of = [], []
        for i, encoding in enumerate(encodings):
            ids = encoding.ids
            for begin in range(0, min(len(ids), MOST_WINDOWS * size), size - special):
                windows.append(self._framed(ids[begin : begin + size - special]))
                text_of.append(i)
                if len(text_of) >= MOST_WINDOWS and text_of[-MOST_WINDOWS] == i:
                    break
        return windows, np.array(text_of, dtype=np.int64)

    def _framed(self, ids: list[int]) -> list[int]:
        """The subwords between the encoder's special tokens of beginning and end."""
        before, after = self._frame
        return [*before, *ids, *after]

    @property
    def _frame(self) -> tuple[list[int], list[int]]:
        if not hasattr(self, "_marks"):
            bare = self._tokenizer.encode("a", add_special_tokens=False).ids
            framed = self._tokenizer.encode("a", add_special_tokens=True).ids
            at = next((i for i in range(len(framed)) if framed[i : i + len(bare)] == bare), 0)
            self._marks = framed[:at], framed[at + len(bare) :]
        return self._marks


def _unit(vectors: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
