"""L2-regularised, squared-hinge SVMs, one a label, by coordinate descent in the dual.

A label's weights are w = sum of alpha_i y_i x_i over its rows. A visit to row i moves alpha_i to where the dual is
highest, which costs the words of that row. Rows can be held out in folds: a label is then solved without each fold in
turn, for its scores of rows that it has not seen, and at last with all of them, from where it stood.

Which rows are negatives of a label may itself be owed to the labels of held-out rows: near a row that carries it, a
label is proposed more often. So an entry says of each fold whether it would be there if the fold were not.
"""

from __future__ import annotations

import numpy as np
from numba import njit

MOST_FOLDS = 7  # an entry is used without fold f if bit f of its `uses` is set, and with all rows if bit 7 is
WITH_ALL = np.uint8(1 << MOST_FOLDS)
_SHRINK_ABOVE = np.float32(0.3)  # a row outside the margin by this much is set aside until the others have settled


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
def _solve(order, size, rows, signs, row_starts, words, weights, lengths, w, cost, passes, tolerance, alpha, moved,
           state):  # fmt: skip
    """Descend over the entries order[:size] of one label; the weights are in `w`, its last place is the bias.

    moved : of each entry, whether it has ever had a dual weight: what it added to `w`, taken back, leaves rounding.
    """
    active, bias_place = size, len(w) - 1
    diagonal = np.float32(0.5) / cost
    for round_ in range(passes):
        worst = np.float32(0)
        state = _shuffle(order, active, state)
        a = 0
        while a < active:
            i = order[a]
            row, sign = rows[i], signs[i]
            own, own_weights = (
                words[row_starts[row] : row_starts[row + 1]],
                weights[row_starts[row] : row_starts[row + 1]],
            )
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
def _set_start(w, bias, old_words, old_weights, rows, alpha, moved, row_starts, words):
    """Put the old weights into `w`, in place of what the rows that ever had a dual weight have left there."""
    for i in range(len(rows)):
        if moved[i]:
            w[words[row_starts[rows[i]] : row_starts[rows[i] + 1]]] = 0
    alpha[:] = 0
    moved[:] = 0
    w[old_words] = old_weights
    w[-1] = bias


@njit(cache=True, nogil=True)
def _solve_without_folds(folds, fold, uses, rows, signs, row_starts, words, weights, lengths, w, cost, passes,
                         tolerance, bias, old_words, old_weights, alpha, moved, order, out_of_fold, state):  # fmt: skip
    """Solve without each fold in turn, and note the scores of its rows; a fold without a row costs nothing."""
    solved = False
    for f in range(folds):
        kept, held = 0, 0
        for i in range(len(rows)):
            if fold[rows[i]] == f:
                held += 1
            elif uses[i] >> f & 1:
                order[kept] = i
                kept += 1
        if held == 0:
            continue
        if solved:
            _set_start(w, bias, old_words, old_weights, rows, alpha, moved, row_starts, words)
        _solve(order, kept, rows, signs, row_starts, words, weights, lengths, w, cost, passes, tolerance, alpha,
               moved, state)  # fmt: skip
        solved = True
        for i in range(len(rows)):
            if fold[rows[i]] == f:
                start, stop = row_starts[rows[i]], row_starts[rows[i] + 1]
                out_of_fold[i] = _dot(w, words[start:stop], weights[start:stop]) + w[-1]


@njit(cache=True, nogil=True)
def _used_with_all(uses, rows, signs, row_starts, words, weights, w, alpha, order):
    """Put the entries that the last solve is about into `order`, and take back what others have added to `w`."""
    kept = 0
    for i in range(len(rows)):
        if uses[i] & WITH_ALL:
            order[kept] = i
            kept += 1
        elif alpha[i] != 0:  # and stays so: whoever clears `w` of this label's words goes by it
            change = -alpha[i] * signs[i]
            start, stop = row_starts[rows[i]], row_starts[rows[i] + 1]
            _add(change, words[start:stop], weights[start:stop], w)
            w[-1] += change
    return kept


@njit(cache=True, nogil=True)
def solve_labels(first, last, starts, rows, signs, uses, row_starts, words, weights, lengths, w, cost, passes,
                 tolerance, least, old_starts, old_words, old_weights, counts, biases, folds, fold, out_of_fold,
                 last_passes, seed):  # fmt: skip
    """Solve the labels first:last; returns the words and weights of their vectors, one after the other.

    Weights start from, and are drawn to, the old ones: those are 0 when there is nothing to go on from. `last_passes`
    are those over all rows, after the folds.
    """
    room, used = 1024, 0
    found_words, found_weights = np.empty(room, np.int32), np.empty(room, np.float32)
    for label in range(first, last):
        begin, end = starts[label], starts[label + 1]
        old_begin, old_end = old_starts[label], old_starts[label + 1]
        own_rows, own_signs = rows[begin:end], signs[begin:end]
        own_words, own_weights = old_words[old_begin:old_end], old_weights[old_begin:old_end]
        state = np.uint64(seed + label + 1) * np.uint64(0x9E3779B97F4A7C15)  # spread over all bits, and never 0
        alpha, order = np.zeros(end - begin, np.float32), np.empty(end - begin, np.int64)
        moved = np.zeros(end - begin, np.uint8)
        _set_start(w, biases[label], own_words, own_weights, own_rows, alpha, moved, row_starts, words)
        own_uses = uses[begin:end]
        _solve_without_folds(folds, fold, own_uses, own_rows, own_signs, row_starts, words, weights, lengths, w, cost,
                             passes, tolerance, biases[label], own_words, own_weights, alpha, moved, order,
                             out_of_fold[begin:end], state)  # fmt: skip
        kept = _used_with_all(own_uses, own_rows, own_signs, row_starts, words, weights, w, alpha, order)
        _solve(order, kept, own_rows, own_signs, row_starts, words, weights, lengths, w, cost, last_passes,
               tolerance, alpha, moved, state)  # fmt: skip
        before = used
        for i in range(begin, end + 1):  # the words of each row, at last those that only the old weights have
            if i == end:
                its_words, smallest = own_words, np.float32(0)
            elif moved[i - begin] == 0:
                continue
            else:
                its_words, smallest = words[row_starts[rows[i]] : row_starts[rows[i] + 1]], least
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
        biases[label], w[-1] = w[-1], 0
        counts[label] = used - before
    return found_words[:used].copy(), found_weights[:used].copy()
