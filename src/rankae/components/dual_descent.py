"""L2-regularised, squared-hinge SVMs, one a label, by coordinate descent in the dual.

A label's weights are w = sum of alpha_i y_i x_i over its rows. A visit to row i moves alpha_i to where the dual is
highest, which costs the words of that row. Rows can be held out in folds: a label is then solved without each fold in
turn, for its scores of rows that it has not seen, and at last with all of them, from where it stood.

Which rows are negatives of a label may itself be owed to the labels of held-out rows: near a row that carries it, a
label is proposed more often. So an entry says of each fold whether it would be there if the fold were not.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

MOST_FOLDS = 7  # an entry is used without fold f if bit f of its `uses` is set, and with all rows if bit 7 is
WITH_ALL = np.uint8(1 << MOST_FOLDS)
_SHRINK_ABOVE = np.float32(0.3)  # a row outside the margin by this much is set aside until the others have settled


class Rows(NamedTuple):
    """CSR rows with a constant word for the bias: row i has words[starts[i]:starts[i + 1]].

    lengths : squared, of each row.
    """

    starts: np.ndarray
    words: np.ndarray
    weights: np.ndarray
    lengths: np.ndarray


class Entries(NamedTuple):
    """What each label is solved from: label l has rows[starts[l]:starts[l + 1]], each with a sign and its `uses`."""

    starts: np.ndarray
    rows: np.ndarray
    signs: np.ndarray
    uses: np.ndarray


class Vectors(NamedTuple):
    """Sparse weight vectors of labels to go on from; all empty where there is nothing to go on from."""

    starts: np.ndarray
    words: np.ndarray
    weights: np.ndarray


class Limits(NamedTuple):
    """cost : C. passes, last_passes : without each fold, and at last over all rows. least : a weight that is kept."""

    cost: np.float32
    passes: int
    last_passes: int
    tolerance: np.float32
    least: np.float32


class Folds(NamedTuple):
    """Rows' scores by solves that have not seen them.

    size : how many folds.
    of_row : the fold of each row, -1 for none.
    scores : of each entry, by the solve without its row's fold.
    """

    size: int
    of_row: np.ndarray
    scores: np.ndarray


class _Label(NamedTuple):
    """One label's entries, the vector it starts from, and the state of its descent.

    moved : of each entry, whether it has ever had a dual weight: what it added to `w`, taken back, leaves rounding.
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
        total += w[np.uint64(words[t])] * weights[t]  # unsigned: no test for places that count from the end
    return total


@njit(cache=True, nogil=True, fastmath=True)
def _add(change, words, weights, w):
    for t in range(len(words)):
        w[np.uint64(words[t])] += change * weights[t]


@njit(cache=True, nogil=True)
def _shuffle(order, size, state):
    """Shuffle order[:size]; a generator of 64 bits (xorshift) costs a tenth of numba's own. Gives its new state."""
    for a in range(size - 1):
        state ^= state << np.uint64(13)
        state ^= state >> np.uint64(7)
        state ^= state << np.uint64(17)
        b = a + np.int64(((state >> np.uint64(32)) * np.uint64(size - a)) >> np.uint64(32))
        order[a], order[b] = order[b], order[a]
    return state


@njit(cache=True, nogil=True, fastmath=True)
def _solve(label, size, data, w, cost, passes, tolerance, state):
    """Descend over the entries order[:size] of one label; the weights are in `w`, its last place is the bias."""
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
            own, own_weights = words[starts[row] : starts[row + 1]], weights[starts[row] : starts[row + 1]]
            gradient = sign * (_dot(w, own, own_weights) + w[bias_place]) - 1 + diagonal * alpha[i]
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
                _add(change, own, own_weights, w)
                w[bias_place] += change
            a += 1
        if worst < tolerance:
            if active == size:
                break
            active = size


@njit(cache=True, nogil=True)
def _set_start(label, data, w):
    """Put the old weights into `w`, in place of what the rows that ever had a dual weight have left there."""
    for i in range(len(label.rows)):
        if label.moved[i]:
            w[data.words[data.starts[label.rows[i]] : data.starts[label.rows[i] + 1]]] = 0
    label.alpha[:] = 0
    label.moved[:] = 0
    w[label.old_words] = label.old_weights
    w[-1] = label.bias


@njit(cache=True, nogil=True)
def _solve_without_folds(label, data, folds, scores, w, limits, state):
    """Solve without each fold in turn, and note the scores of its rows; a fold without a row costs nothing."""
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
                scores[i] = _dot(w, data.words[start:stop], data.weights[start:stop]) + w[-1]


@njit(cache=True, nogil=True)
def _used_with_all(label, data, w):
    """Put the entries that the last solve is about into `order`, and take back what others have added to `w`."""
    kept = 0
    for i in range(len(label.rows)):
        if label.uses[i] & WITH_ALL:
            label.order[kept] = i
            kept += 1
        elif label.alpha[i] != 0:  # and stays so: whoever clears `w` of this label's words goes by it
            change = -label.alpha[i] * label.signs[i]
            start, stop = data.starts[label.rows[i]], data.starts[label.rows[i] + 1]
            _add(change, data.words[start:stop], data.weights[start:stop], w)
            w[-1] += change
    return kept


@njit(cache=True, nogil=True)
def solve_labels(first, last, data, entries, old, limits, folds, w, counts, biases, seed):
    """Solve the labels first:last; returns the words and weights of their vectors, one after the other.

    Weights start from, and are drawn to, the old ones.

    data, entries, old, limits, folds : `Rows`, `Entries`, `Vectors`, `Limits` and `Folds`.
    w : zeros for all words and the bias, and left so.
    counts, biases : of each label, to be filled in.
    """
    room, used = 1024, 0
    found_words, found_weights = np.empty(room, np.int32), np.empty(room, np.float32)
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
        kept = _used_with_all(label, data, w)
        _solve(label, kept, data, w, limits.cost, limits.last_passes, limits.tolerance, state)
        before = used
        for i in range(end - begin + 1):  # the words of each row, at last those that only the old weights have
            if i == end - begin:
                its_words, smallest = label.old_words, np.float32(0)
            elif label.moved[i] == 0:
                continue
            else:
                row = label.rows[i]
                its_words, smallest = data.words[data.starts[row] : data.starts[row + 1]], limits.least
            for word in its_words:
                if w[word] != 0 and abs(w[word]) >= smallest:
                    if used == room:
                        room *= 2
                        found_words = np.concatenate((found_words, found_words))
                        found_weights = np.concatenate((found_weights, found_weights))
                    found_words[used], found_weights[used] = word, w[word]
                    used += 1
                w[word] = 0
        by_word = np.argsort(found_words[before:used])
        found_words[before:used] = found_words[before:used][by_word]
        found_weights[before:used] = found_weights[before:used][by_word]
        biases[place], w[-1] = w[-1], 0
        counts[place] = used - before
    return found_words[:used].copy(), found_weights[:used].copy()
