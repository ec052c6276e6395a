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

MOST_FOLDS = 7  # an entry is used without fold f if bit f of its `uses` is set, and with all rows if bit 7 is
WITH_ALL = np.uint8(1 << MOST_FOLDS)
_SHRINK_ABOVE = np.float32(0.3)  # shrinking: a row outside the margin by more is skipped until the others converge


class Rows(NamedTuple):
    """CSR rows: row i has words[starts[i]:starts[i + 1]]. The bias is a constant feature that is not stored.

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

    moved : whether each entry's alpha was ever above 0. Even if it is 0 again, rounding errors remain in `w`.
    """

    rows: np.ndarray
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
    rows, signs, alpha, moved, order = label.rows, label.signs, label.alpha, label.moved, label.order
    starts, words, weights, lengths = data.starts, data.words, data.weights, data.lengths
    diagonal = np.float32(0.5) / cost
    for round_ in range(passes):
        worst = np.float32(0)
        state = _shuffle(order, active, state)
        a = 0
        while a < active:
            i = order[a]
            row, sign = rows[i], signs[i]
            row_words, row_weights = words[starts[row] : starts[row + 1]], weights[starts[row] : starts[row + 1]]
            gradient = sign * (_dot(w, row_words, row_weights) + w[bias_place]) - 1 + diagonal * alpha[i]
            if alpha[i] == 0 and gradient >= 0:
                if gradient > _SHRINK_ABOVE and round_ > 0:
                    active -= 1
                    order[a], order[active] = order[active], order[a]
                    continue
                a += 1
                continue
            worst = max(worst, abs(gradient))
            new = max(alpha[i] - gradient / (lengths[row] + 1 + diagonal), np.float32(0))
            change = (new - alpha[i]) * sign
            alpha[i] = new
            if change != 0:
                moved[i] = 1
                _add(change, row_words, row_weights, w)
                w[bias_place] += change
            a += 1
        if worst < tolerance:
            if active == size:
                break
            active = size


@njit(cache=True, nogil=True)
def _set_start(label, data, w):
    """Reset `w` to the starting vector: clear the words of all rows that have changed it."""
    for i in range(len(label.rows)):
        if label.moved[i]:
            w[data.words[data.starts[label.rows[i]] : data.starts[label.rows[i] + 1]]] = 0
    label.alpha[:] = 0
    label.moved[:] = 0
    w[label.old_words] = label.old_weights
    w[-1] = label.bias


@njit(cache=True, nogil=True)
def _solve_without_folds(label, data, folds, scores, w, limits, state):
    """Solve without each fold in turn and write the scores of its rows; folds without a row are skipped."""
    solved = False
    rows, fold = label.rows, folds.of_row
    for f in range(folds.size):
        kept, held = 0, 0
        for i in range(len(rows)):
            if fold[rows[i]] == f:
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
        for i in range(len(rows)):
            if fold[rows[i]] == f:
                start, stop = data.starts[rows[i]], data.starts[rows[i] + 1]
                score = _dot(w, data.words[start:stop], data.weights[start:stop])
                scores[i] = folds.factors[rows[i]] * score + w[-1]


@njit(cache=True, nogil=True)
def _used_with_all(label, data, w):
    """Put the entries of the final solve into `order`, and subtract what the other entries have added to `w`."""
    kept = 0
    for i in range(len(label.rows)):
        if label.uses[i] & WITH_ALL:
            label.order[kept] = i
            kept += 1
        elif label.alpha[i] != 0:
            change = -label.alpha[i] * label.signs[i]
            start, stop = data.starts[label.rows[i]], data.starts[label.rows[i] + 1]
            _add(change, data.words[start:stop], data.weights[start:stop], w)
            w[-1] += change
    return kept


@njit(cache=True, nogil=True)
def solve_labels(first, last, data, entries, old, limits, folds, w, counts, biases, seed):
    """Solve the labels first:last; returns the words and weights of their vectors, one after the other.

    Weights start from the old ones and are regularised towards them.

    data, entries, old, limits, folds : `Rows`, `Entries`, `Vectors`, `Limits` and `Folds`.
    w : zeros for all words and the bias; it is zero again afterwards.
    counts, biases : output, one for each label.
    """
    room, kept_count = 1024, 0
    kept_words, kept_weights = np.empty(room, np.int32), np.empty(room, np.float32)
    for place in range(first, last):
        begin, end = entries.starts[place], entries.starts[place + 1]
        label = _Label(
            entries.rows[begin:end],
            entries.signs[begin:end],
            entries.uses[begin:end],
            old.words[old.starts[place] : old.starts[place + 1]],
            old.weights[old.starts[place] : old.starts[place + 1]],
            biases[place],
            np.zeros(end - begin, np.float32),
            np.zeros(end - begin, np.uint8),
            np.empty(end - begin, np.int64),
        )
        state = np.uint64(seed + place + 1) * np.uint64(0x9E3779B97F4A7C15)  # spread over all bits, and never 0
        _set_start(label, data, w)
        _solve_without_folds(label, data, folds, folds.scores[begin:end], w, limits, state)
        solved_count = _used_with_all(label, data, w)
        _solve(label, solved_count, data, w, limits.cost, limits.last_passes, limits.tolerance, state)
        before = kept_count
        for i in range(end - begin + 1):  # the words of each row, and last those of the old weights only
            if i == end - begin:
                words, smallest = label.old_words, np.float32(0)
            elif label.moved[i] == 0:
                continue
            else:
                row = label.rows[i]
                words, smallest = data.words[data.starts[row] : data.starts[row + 1]], limits.least
            for word in words:
                if w[word] != 0 and abs(w[word]) >= smallest:
                    if kept_count == room:
                        room *= 2
                        kept_words = np.concatenate((kept_words, kept_words))
                        kept_weights = np.concatenate((kept_weights, kept_weights))
                    kept_words[kept_count], kept_weights[kept_count] = word, w[word]
                    kept_count += 1
                w[word] = 0
        by_word = np.argsort(kept_words[before:kept_count])
        kept_words[before:kept_count] = kept_words[before:kept_count][by_word]
        kept_weights[before:kept_count] = kept_weights[before:kept_count][by_word]
        biases[place], w[-1] = w[-1], 0
        counts[place] = kept_count - before
    return kept_words[:kept_count].copy(), kept_weights[:kept_count].copy()
