"""The rankers' weight vectors in the layout that predictions use.

Rankers spend their time on finding a row's words in a label's weight vector: a row has a few hundred words, the vector
of a frequent label has thousands, and dozens of labels are scored for each row. A long vector is therefore stored as a
bitmap over the vocabulary: bit j tells whether word j has a weight, and the number of bits set before it is the
weight's position. This also takes less memory than word numbers. A short vector is read in full.

For many rows at once, the loop runs over labels instead of rows: a label's vector is written to a dense array once for
all rows that list it, where finding a word is a single lookup.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numba import njit

from rankae.components.rankers import Rankers
from rankae.errors import ModelFileError
from rankae.numerics.ascending import pack_ascending, smallest, unpack_ascending
from rankae.numerics.bits import bits_set, words_of_bits
from rankae.numerics.shortlist import Shortlist
from rankae.numerics.small_numbers import number
from rankae.numerics.table import RaggedTable
from rankae.numerics.threads import across_threads

_LONG = 21  # a vector with weights for more than 1 / _LONG of the words is smaller as a bitmap
_SEARCH = 12  # a short vector that is this many times longer than the row is searched instead of read in full
_MANY_ROWS = 128  # from so many rows on, the loop runs over labels


@njit(cache=True, nogil=True)
def _set_bits(labels, starts, words, bits, before):
    for place in range(len(labels)):
        start, stop = starts[labels[place]], starts[labels[place] + 1]
        for t in range(start, stop):
            bits[place, words[t] >> 6] |= np.uint64(1) << np.uint64(words[t] & 63)
        count = 0
        for block in range(bits.shape[1]):
            before[place, block] = count
            count += bits_set(bits[place, block])


@njit(cache=True, nogil=True, fastmath=True)
def _product_by_bits(bits, before, weights, words, values):
    total, one = np.float32(0), np.uint64(1)
    for t in range(len(words)):
        word = np.uint64(words[t])  # unsigned: no check for negative indices
        block, bit = word >> np.uint64(6), word & np.uint64(63)
        block_bits = bits[block]
        # A factor, because a branch would be mispredicted half of the time.
        there = (block_bits >> bit) & one
        place = np.uint64(before[block]) + bits_set(block_bits & ((one << bit) - one))
        total += number(weights[place * there]) * values[t] * np.float32(there)
    return total


@njit(cache=True, nogil=True, fastmath=True)
def _product_by_words(vector_words, weights, spread):
    total = np.float32(0)
    for t in range(len(vector_words)):
        total += number(weights[t]) * spread[np.uint64(vector_words[t])]
    return total


@njit(cache=True, nogil=True, fastmath=True)
def _product_by_search(vector_words, weights, start, stop, first_word, words, values, first, last):
    total, low, size = np.float32(0), first_word, first_word + stop - start
    for t in range(first, last):  # both ascend, so each search starts where the last one ended
        high = size
        while low < high:
            middle = (low + high) // 2
            if vector_words[middle] < words[t]:
                low = middle + 1
            else:
                high = middle
        if low < size and vector_words[low] == words[t]:
            total += number(weights[start + low - first_word]) * values[t]
    return total


@njit(cache=True, nogil=True)
def _score_rows(
    first, last, entries, columns, row_starts, words, values,
    starts, weights, scales, biases, short_words, short_starts, place, bits, before, vocabulary, out,
):  # fmt: skip
    spread = np.zeros(vocabulary, np.float32)
    for i in range(first, last):
        row, end = row_starts[i], row_starts[i + 1]
        for t in range(row, end):
            spread[words[t]] = values[t]
        for e in range(entries[i], entries[i + 1]):
            label = columns[e]
            start, stop, at, p = starts[label], starts[label + 1], short_starts[label], place[label]
            if p >= 0:
                total = _product_by_bits(bits[p], before[p], weights[start:stop], words[row:end], values[row:end])
            elif stop - start <= _SEARCH * (end - row):
                total = _product_by_words(short_words[at : at + stop - start], weights[start:stop], spread)
            else:
                total = _product_by_search(short_words, weights, start, stop, at, words, values, row, end)
            out[e] = (total * scales[label] if len(scales) > 0 else total) + biases[label]
        for t in range(row, end):
            spread[words[t]] = 0


@njit(cache=True, nogil=True)
def _by_label(columns, labels):
    """The entries sorted by label: where each label's entries start, and the indices of the entries."""
    starts = np.zeros(labels + 1, np.int64)
    for column in columns:
        starts[column + 1] += 1
    for label in range(labels):
        starts[label + 1] += starts[label]
    places, used = np.empty(len(columns), np.int32), starts[:-1].copy()
    for e in range(len(columns)):
        places[used[columns[e]]] = e
        used[columns[e]] += 1
    return starts, places


@njit(cache=True, nogil=True, fastmath=True)
def _product_with_spread(spread, words, values):
    total = np.float32(0)
    for t in range(len(words)):
        total += spread[np.uint64(words[t])] * values[t]
    return total


@njit(cache=True, nogil=True)
def _score_labels(
    first, last, label_starts, places, rows, row_starts, words, values,
    starts, weights, scales, biases, short_words, short_starts, place, bits, vocabulary, out,
):  # fmt: skip
    """`_score_rows`, label by label; `places` are the indices of each label's entries, `rows` the row of each entry."""
    spread, vector_words = np.zeros(vocabulary, np.float32), np.empty(vocabulary, np.int32)
    for label in range(first, last):
        if label_starts[label] == label_starts[label + 1]:
            continue
        start, size = starts[label], starts[label + 1] - starts[label]
        if place[label] >= 0:
            words_of_bits(bits[place[label]], vector_words)
        else:
            vector_words[:size] = short_words[short_starts[label] : short_starts[label] + size]
        for t in range(size):
            spread[vector_words[t]] = number(weights[start + t])
        scale = scales[label] if len(scales) > 0 else np.float32(1)
        for e in places[label_starts[label] : label_starts[label + 1]]:
            row, end = row_starts[rows[e]], row_starts[rows[e] + 1]
            out[e] = _product_with_spread(spread, words[row:end], values[row:end]) * scale + biases[label]
        for t in range(size):
            spread[vector_words[t]] = 0


@dataclass
class RankerWeights:
    """Sparse weight vectors and biases of all labels; the weights of a label are in the order of its words."""

    name = "rankers"

    vocabulary: int
    weights: RaggedTable
    biases: np.ndarray
    words: np.ndarray  # of the short vectors
    word_starts: np.ndarray  # int64 [L]: where the words of a label begin, if its vector is short
    long: np.ndarray  # int32: the labels with long vectors, ascending
    bits: np.ndarray  # uint64 [long, vocabulary / 64]: which words have a weight
    before: np.ndarray  # int32 [long, vocabulary / 64]: how many bits are set in earlier blocks

    @classmethod
    def of(cls, rankers: Rankers) -> Self:
        """The vectors of the rankers, with which they share memory."""
        w = rankers.weights
        starts = w.indptr.astype(np.int64)
        long = np.flatnonzero(np.diff(starts) * _LONG > w.shape[1]).astype(np.int32)
        bits = np.zeros((len(long), -(-w.shape[1] // 64)), dtype=np.uint64)
        before = np.empty(bits.shape, dtype=np.int32)
        _set_bits(long, starts, w.indices, bits, before)
        weights = RaggedTable(starts, w.data)
        return cls(w.shape[1], weights, rankers.biases, w.indices, starts[:-1], long, bits, before)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of words and of labels."""
        return self.vocabulary, len(self.biases)

    def __post_init__(self) -> None:
        self._place = np.full(len(self.biases), -1, dtype=np.int32)
        self._place[self.long] = np.arange(len(self.long))

    def scores(self, rows: sp.csr_matrix, shortlist: Shortlist) -> np.ndarray:
        """The margin of each shortlisted label; `rows` have sorted words."""
        out, w = np.empty(len(shortlist.columns), dtype=np.float32), self.weights
        vectors = w.starts, w.stored, w.scales, self.biases, self.words, self.word_starts, self._place, self.bits
        tokens = rows.indptr, rows.indices, rows.data
        if rows.shape[0] < _MANY_ROWS:
            entries = shortlist.starts, shortlist.columns, *tokens
            across_threads(_score_rows, *entries, *vectors, self.before, self.vocabulary, out)
        else:
            starts, places = _by_label(shortlist.columns, len(self.biases))
            if self.vocabulary <= 2**16:  # rows are read from memory for each label: fewer bytes, less time
                tokens = rows.indptr, rows.indices.astype(np.uint16), rows.data
            across_threads(_score_labels, starts, places, shortlist.rows, *tokens, *vectors, self.vocabulary, out)
        return out

    def shrunk(self, precision: str) -> RankerWeights:
        """The vectors with weights of lower precision, and without word numbers for those that have bitmaps."""
        lengths = np.diff(self.weights.starts)
        short = self._place < 0
        kept = np.where(short, lengths, 0)
        words = self.words
        if len(self.long) and len(words) == lengths.sum():  # of all vectors; else they need no copy
            words = words[np.repeat(short, lengths)]
        if self.vocabulary <= 2**16:
            words = words.astype(np.uint16)
        word_starts = np.cumsum(kept) - kept
        before = self.before.astype(np.uint16) if lengths.max(initial=0) < 2**16 else self.before
        weights = self.weights.at(precision)
        return replace(self, weights=weights, words=words, word_starts=word_starts, before=before)

    def rankers(self) -> Rankers:
        """The same vectors as `Rankers`, for further training."""
        starts = self.weights.starts
        words = np.empty(starts[-1], dtype=np.int32)
        for label, (start, stop) in enumerate(pairwise(starts.tolist())):
            if self._place[label] >= 0:
                words_of_bits(self.bits[self._place[label]], words[start:stop])
            else:
                begin = self.word_starts[label]
                words[start:stop] = self.words[begin : begin + stop - start]
        shape = len(self.biases), self.vocabulary
        return Rankers(sp.csr_matrix((np.asarray(self.weights), words, starts), shape=shape), self.biases)

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Weights, words of short vectors and bitmaps of long ones; the other arrays follow from these."""
        w, lengths = self.weights, np.diff(self.weights.starts)
        short = self._place < 0
        kept = np.where(short, lengths, 0)
        words = self.words[np.repeat(short, lengths)] if len(self.words) == lengths.sum() else self.words
        arrays = {"sizes": smallest(lengths), "weights": w.values, "scales": w.scales, "biases": self.biases}
        arrays |= {"long": self.long, "bits": self.bits}
        starts = np.concatenate([[0], np.cumsum(kept)])
        return {"vocabulary": self.vocabulary}, arrays | pack_ascending("words", starts, words, self.vocabulary)

    @classmethod
    def from_state(cls, settings: dict[str, Any], arrays: dict[str, np.ndarray]) -> Self:
        arrays, vocabulary = dict(arrays), settings["vocabulary"]
        if "sizes" in arrays:
            sizes, long, bits = arrays["sizes"].astype(np.int64), arrays["long"], arrays["bits"]
            starts = np.concatenate([[0], np.cumsum(sizes)])
            weights = RaggedTable(starts, arrays["weights"], arrays["scales"])
            word_starts, words = unpack_ascending("words", arrays)
            if bits.ndim != 2 or len(word_starts) != len(starts):
                raise ModelFileError("the model's rankers contradict themselves; shrink or train it again")
            before = np.zeros(bits.shape, dtype=np.int32)
            np.cumsum(np.bitwise_count(bits[:, :-1]), axis=1, out=before[:, 1:])
            if words.dtype == np.uint32:
                words = words.astype(np.int32)
            component = cls(vocabulary, weights, arrays["biases"], words, word_starts[:-1], long, bits, before)
        else:  # models up to version 0.1
            weights = RaggedTable(arrays.pop("starts"), arrays.pop("weights"), arrays.pop("scales"))
            component = cls(vocabulary=vocabulary, weights=weights, **arrays)
        if not component._holds_together():
            raise ModelFileError("the model's rankers contradict themselves; shrink or train it again")
        return component

    def _holds_together(self) -> bool:
        """Whether every index that the compiled loops use is within its array; files may be forged."""
        starts, lengths = self.weights.starts, np.diff(self.weights.starts)
        short = self._place < 0
        blocks = (len(self.long), -(-self.vocabulary // 64))
        return bool(
            starts[0] == 0
            and starts[-1] == len(self.weights.values)
            and len(lengths) == len(self.biases) == len(self.word_starts)
            and (lengths >= 0).all()
            and len(self.weights.scales) in (0, len(lengths))
            and (self.word_starts >= 0).all()
            and (self.word_starts + lengths)[short].max(initial=0) <= len(self.words)
            and 0 <= self.words.min(initial=0) <= self.words.max(initial=0) < self.vocabulary
            and self.bits.shape == self.before.shape == blocks
            and np.array_equal(np.bitwise_count(self.bits).sum(1), lengths[self.long])
            and np.array_equal(np.diff(self.before, axis=1), np.bitwise_count(self.bits[:, :-1]))
            and not self.before[:, :1].any()
        )
