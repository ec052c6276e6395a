"""L2-regularised, squared-hinge SVMs, one per label, by dual coordinate descent.

A label's weights are w = sum of alpha_i y_i x_i over its rows. A visit to row i maximises the dual over alpha_i, at the
cost of the words of that row. Rows can be held out in folds: a label is then solved without each fold in turn, which
gives out-of-fold scores, and last with all rows, starting from the previous solution.

The choice of negatives could leak the labels of held-out rows, because a label is proposed more often near a row that
carries it. Every entry therefore has a bit for each fold that tells whether it would exist without that fold.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from rankae.numerics.bits import words_of_bits

MOST_FOLDS = 7  # an entry is used without fold f if bit f of its `uses` is set, and with all rows if bit 7 is
WITH_ALL = np.uint8(1 << MOST_FOLDS)
# The bias starts at the margin of a row without the label, and its feature is small. With a feature of 1, all rows
# would pull at the same weight, and descent would take twice as many passes for the same result (docs/scale.md).
START_BIAS = np.float32(-1)
BIAS_FEATURE = np.float32(0.03)  # squared
_SHRINK_ABOVE = np.float32(0.1)  # shrinking: a row outside the margin by more is skipped until the others converge
_SLACK = np.float32(0.5)  # of the tolerance: a row inside the margin by less is not learnt
_MOST_COPIED = 2**17  # words of all rows of a label
_ONE = np.uint64(1)
_SIGNS = (np.float32(1), np.float32(-1))  # rows that carry a label are visited first


class Rows(NamedTuple):
    """CSR rows: row i has words[starts[i]:starts[i + 1]]. The feature of the bias is not stored.

    lengths : squared length of each row.
    """

    starts: np.ndarray
    words: np.ndarray
    weights: np.ndarray
    lengths: np.ndarray


class Entries(NamedTuple):
    """Training rows of each label: label l has rows[starts[l]:starts[l + 1]], each with a sign and its `uses`."""

    starts: np.ndarray
    rows: np.ndarray
    signs: np.ndarray
    uses: np.ndarray


class Vectors(NamedTuple):
    """Sparse weight vectors that the labels start from; empty for a start from zero."""

    starts: np.ndarray
    words: np.ndarray
    weights: np.ndarray


class Limits(NamedTuple):
    """Parameters of the solver.

    cost : C.
    passes, last_passes : over the rows without each fold, and over all rows.
    least : smaller weights are dropped.
    """

    cost: np.float32
    passes: int
    last_passes: int
    tolerance: np.float32
    least: np.float32


class Folds(NamedTuple):
    """The folds, and the out-of-fold scores.

    size : number of folds.
    of_row : the fold of each row, -1 for none.
    factors : what the weights of each row are multiplied by when it is scored as a held-out row.
    scores : of each entry, by the solution without its row's fold.
    """

    size: int
    of_row: np.ndarray
    factors: np.ndarray
    scores: np.ndarray


class _Label(NamedTuple):
    """One label's entries, its starting vector, and the state of the solver.

    at : the number of each entry's row in the `Rows` that are read.
    fold, factors : of each entry, see `Folds`.
    moved : whether each entry's alpha was ever above 0. Even if it is 0 again, rounding errors remain in `w`.
    """

    at: np.ndarray
    fold: np.ndarray
    factors: np.ndarray
    signs: np.ndarray
    uses: np.ndarray
    old_words: np.ndarray
    old_weights: np.ndarray
    bias: np.float32
    alpha: np.ndarray
    moved: np.ndarray
    order: np.ndarray


@njit(cache=True, nogil=True, fastmath=True)
def _dot(w, words, weights):
    total = np.float32(0)
    for t in range(len(words)):
        total += w[np.uint64(words[t])] * weights[t]  # unsigned: no check for negative indices
    return total


@njit(cache=True, nogil=True, fastmath=True)
def _add(change, words, weights, w):
    for t in range(len(words)):
        w[np.uint64(words[t])] += change * weights[t]


@njit(cache=True, nogil=True)
def _shuffle(order, size, state):
    """Shuffle order[:size] and return the new state; a 64-bit xorshift costs a tenth of numba's own generator."""
    for a in range(size - 1):
        state ^= state << np.uint64(13)
        state ^= state >> np.uint64(7)
        state ^= state << np.uint64(17)
        b = a + np.int64(((state >> np.uint64(32)) * np.uint64(size - a)) >> np.uint64(32))
        order[a], order[b] = order[b], order[a]
    return state


@njit(cache=True, nogil=True, fastmath=True)
def _solve(label, size, data, w, cost, passes, tolerance, state):
    """Coordinate descent over the entries order[:size] of one label; `w` holds its weights, and last the bias."""
    active, bias_place = size, len(w) - 1
    rows, signs, alpha, moved, order = label.at, label.signs, label.alpha, label.moved, label.order
    starts, words, weights, lengths = data.starts, data.words, data.weights, data.lengths
    diagonal, enough = np.float32(0.5) / cost, -_SLACK * tolerance
    for round_ in range(passes):
        worst = np.float32(0)
        if round_ > 0:
            state = _shuffle(order, active, state)
        a = 0
        while a < active:
            i = order[a]
            row, sign = rows[i], signs[i]
            row_words, row_weights = words[starts[row] : starts[row + 1]], weights[starts[row] : starts[row + 1]]
            gradient = sign * (_dot(w, row_words, row_weights) + w[bias_place]) - 1 + diagonal * alpha[i]
            if alpha[i] == 0 and gradient >= enough:
                if gradient > _SHRINK_ABOVE and round_ > 0:
                    active -= 1
                    order[a], order[active] = order[active], order[a]
                    continue
                a += 1
                continue
            worst = max(worst, abs(gradient))
            new = max(alpha[i] - gradient / (lengths[row] + BIAS_FEATURE + diagonal), np.float32(0))
            change = (new - alpha[i]) * sign
            alpha[i] = new
            if change != 0:
                moved[i] = 1
                _add(change, row_words, row_weights, w)
                w[bias_place] += BIAS_FEATURE * change
            a += 1
        if worst < tolerance:
            if active == size:
                break
            active = size


@njit(cache=True, nogil=True)
def _set_start(label, data, w):
    """Reset `w` to the starting vector: clear the words of all rows that have changed it."""
    for i in range(len(label.at)):
        if label.moved[i]:
            w[data.words[data.starts[label.at[i]] : data.starts[label.at[i] + 1]]] = 0
    label.alpha[:] = 0
    label.moved[:] = 0
    w[label.old_words] = label.old_weights
    w[-1] = label.bias


@njit(cache=True, nogil=True)
def _solve_without_folds(label, data, folds, scores, w, limits, state):
    """Solve without each fold in turn and write the scores of its rows; folds without a row are skipped."""
    solved = False
    for f in range(folds):
        kept, held = 0, 0
        for sign in _SIGNS:
            for i in range(len(label.at)):
                if label.signs[i] != sign:
                    continue
                if label.fold[i] == f:
                    held += 1
                elif label.uses[i] >> f & 1:
                    label.order[kept] = i
                    kept += 1
        if held == 0:
            continue
        if solved:
            _set_start(label, data, w)
        _solve(label, kept, data, w, limits.cost, limits.passes, limits.tolerance, state)
        solved = True
        for i in range(len(label.at)):
            if label.fold[i] == f:
                start, stop = data.starts[label.at[i]], data.starts[label.at[i] + 1]
                scores[i] = label.factors[i] * _dot(w, data.words[start:stop], data.weights[start:stop]) + w[-1]


@njit(cache=True, nogil=True)
def _used_with_all(label, data, w):
    """Put the entries of the final solve into `order`, and subtract what the other entries have added to `w`."""
    kept = 0
    for sign in _SIGNS:
        for i in range(len(label.at)):
            if label.signs[i] != sign:
                continue
            if label.uses[i] & WITH_ALL:
                label.order[kept] = i
                kept += 1
            elif label.alpha[i] != 0:
                start, stop = data.starts[label.at[i]], data.starts[label.at[i] + 1]
                change = -label.alpha[i] * sign
                _add(change, data.words[start:stop], data.weights[start:stop], w)
                w[-1] += BIAS_FEATURE * change
    return kept


@njit(cache=True, nogil=True)
def _solve_label(label, data, folds, scores, w, limits, state):
    """Out-of-fold scores of one label, and its weights in `w`, which is zero before."""
    _set_start(label, data, w)
    _solve_without_folds(label, data, folds, scores, w, limits, state)
    size = _used_with_all(label, data, w)
    _solve(label, size, data, w, limits.cost, limits.last_passes, limits.tolerance, state)


@njit(cache=True, nogil=True)
def _copied(data, rows, number_of, named, own):
    """Copy rows to `own`, with their words numbered from 0 on in `named`; gives the number of words.

    The weights of these words fit into the fastest cache, however large the vocabulary is.
    """
    used, count = 0, 0
    for i in range(len(rows)):
        own.starts[i], own.lengths[i] = used, data.lengths[rows[i]]
        for t in range(data.starts[rows[i]], data.starts[rows[i] + 1]):
            word = data.words[t]
            if number_of[word] < 0:
                number_of[word], named[count] = count, word
                count += 1
            own.words[used], own.weights[used] = number_of[word], data.weights[t]
            used += 1
    own.starts[len(rows)] = used
    return count


@njit(cache=True, nogil=True)
def _mark(label, data, w, least, bits):
    """Set the bits of the words that keep a weight, and all other weights to 0. Old weights are kept as they are."""
    for i in range(len(label.at)):
        if label.moved[i]:
            for word in data.words[data.starts[label.at[i]] : data.starts[label.at[i] + 1]]:
                if abs(w[word]) < least:
                    w[word] = 0
                elif w[word] != 0:
                    bits[word >> 6] |= _ONE << np.uint64(word & 63)
    for word in label.old_words:
        if w[word] != 0:
            bits[word >> 6] |= _ONE << np.uint64(word & 63)


@njit(cache=True, nogil=True)
def _mark_copied(own_w, named, least, w, bits):
    """The same for the words `named`; their weights move to `w`."""
    for place in range(len(named)):
        word, weight = named[place], own_w[place]
        if weight != 0 and abs(weight) >= least:
            w[word] = weight
            bits[word >> 6] |= _ONE << np.uint64(word & 63)


@njit(cache=True, nogil=True)
def solve_labels(first, last, data, entries, old, limits, folds, w, counts, biases, seed):
    """Solve the labels first:last; returns the words and weights of their vectors, one after the other.

    Weights start from the old ones and are regularised towards them.

    data, entries, old, limits, folds : `Rows`, `Entries`, `Vectors`, `Limits` and `Folds`.
    w : zeros for all words and the bias; it is zero again afterwards.
    counts, biases : output, one for each label.
    """
    room, kept_count, vocabulary = 1024, 0, len(w) - 1
    kept_words, kept_weights = np.empty(room, np.int32), np.empty(room, np.float32)
    bits, found = np.zeros(vocabulary // 64 + 1, np.uint64), np.empty(vocabulary, np.int32)
    number_of, named = np.full(vocabulary, -1, np.int32), np.empty(vocabulary, np.int32)
    own_rows = Rows(
        np.empty(_MOST_COPIED + 1, np.int64),
        np.empty(_MOST_COPIED, np.int32),
        np.empty(_MOST_COPIED, np.float32),
        np.empty(_MOST_COPIED, np.float32),
    )
    own_w, every = np.zeros(_MOST_COPIED + 1, np.float32), np.arange(_MOST_COPIED).astype(entries.rows.dtype)
    for place in range(first, last):
        begin, end = entries.starts[place], entries.starts[place + 1]
        size, rows = end - begin, entries.rows[begin:end]
        tokens, unset = size, old.starts[place] == old.starts[place + 1]
        for row in rows:
            tokens += data.starts[row + 1] - data.starts[row]
        copied = unset and tokens <= _MOST_COPIED
        label = _Label(
            every[:size] if copied else rows,
            folds.of_row[rows],
            folds.factors[rows],
            entries.signs[begin:end],
            entries.uses[begin:end],
            old.words[old.starts[place] : old.starts[place + 1]],
            old.weights[old.starts[place] : old.starts[place + 1]],
            biases[place],
            np.zeros(size, np.float32),
            np.zeros(size, np.uint8),
            np.empty(size, np.int64),
        )
        state = np.uint64(seed + place + 1) * np.uint64(0x9E3779B97F4A7C15)  # spread over all bits, and never 0
        if copied:
            words = _copied(data, rows, number_of, named, own_rows)
            _solve_label(label, own_rows, folds.size, folds.scores[begin:end], own_w[: words + 1], limits, state)
            _mark_copied(own_w, named[:words], limits.least, w, bits)
            number_of[named[:words]] = -1
            biases[place], own_w[: words + 1] = own_w[words], 0
        else:
            _solve_label(label, data, folds.size, folds.scores[begin:end], w, limits, state)
            _mark(label, data, w, limits.least, bits)
            biases[place], w[-1] = w[-1], 0
        counts[place] = words_of_bits(bits, found)
        bits[:] = 0
        while kept_count + counts[place] > room:
            room *= 2
            kept_words = np.concatenate((kept_words, kept_words))
            kept_weights = np.concatenate((kept_weights, kept_weights))
        for word in found[: counts[place]]:
            kept_words[kept_count], kept_weights[kept_count] = word, w[word]
            kept_count += 1
            w[word] = 0
    return kept_words[:kept_count].copy(), kept_weights[:kept_count].copy()
