"""The training rows of largest inner product with a row, exactly, by the postings of its words."""

from __future__ import annotations

import numpy as np
from numba import njit

from rankae.numerics.reached import raise_lanes, reached
from rankae.numerics.small_numbers import number

_DENSE = 8  # a row whose words have more postings than 1/8 of the training rows is compared with all of them
# Similarities fall into groups, of which the largest are looked at first: a group takes every 1024th of 16 * 1024 rows.
_WIDTH, _MEMBERS = 1024, 16
_LANES = 128  # groups of groups
_LEAST = np.finfo(np.float32).tiny  # a row that is nearer than 0 is as near as this


@njit(cache=True, nogil=True, fastmath=True)
def _add_postings(similarity, weight, start, stop, post_rows, post_weights):
    # No test whether a row is new, nor whether its number is below 0: they would double the time of this loop, which
    # takes most of it.
    rows, weights = post_rows[start:stop], post_weights[start:stop]
    for p in range(len(rows)):
        similarity[np.uint64(rows[p])] += weight * number(weights[p])


@njit(cache=True, nogil=True, fastmath=True)
def _add_noted_postings(similarity, weight, start, stop, post_rows, post_weights, touched, count):
    """As above for few postings, noting the rows that they touch."""
    for p in range(start, stop):
        row = post_rows[p]
        if similarity[row] == 0:
            touched[count] = row
            count += 1
        similarity[row] += weight * number(post_weights[p])
    return count


@njit(cache=True, nogil=True)
def _keep(value, row, nearest, cosine, filled):
    """Insert a row among the nearest so far, nearest first; gives how many there are."""
    k = len(nearest)
    place = min(filled, k - 1)
    while place > 0 and cosine[place - 1] < value:
        cosine[place], nearest[place] = cosine[place - 1], nearest[place - 1]
        place -= 1
    cosine[place], nearest[place] = value, row
    return min(filled + 1, k)


@njit(cache=True, nogil=True)
def _keep_largest(similarity, maxima, lanes, nearest, cosine):
    """Keep the rows of largest similarity above 0; gives whether one was left out that is as near as the last."""
    maxima[:] = 0
    for start in range(0, len(similarity), _WIDTH):
        group = start // (_WIDTH * _MEMBERS) * _WIDTH
        raise_lanes(maxima[group : group + _WIDTH], similarity[start : start + _WIDTH])
    k, filled, left_out = len(nearest), 0, False
    floor = max(reached(maxima, k, lanes), _LEAST)
    for lane in range(len(lanes)):
        if lanes[lane] < floor:
            continue
        for group in range(lane, len(maxima), len(lanes)):
            if maxima[group] < floor:
                continue
            begin = group // _WIDTH * (_WIDTH * _MEMBERS) + group % _WIDTH
            for row in range(begin, min(begin + _WIDTH * _MEMBERS, len(similarity)), _WIDTH):
                value = similarity[row]
                if filled == k and value == floor:
                    left_out = True
                elif value >= floor:
                    pushed_out = floor if filled == k else np.float32(0)
                    filled = _keep(value, row, nearest, cosine, filled)
                    if filled == k:
                        floor = cosine[k - 1]
                        left_out = pushed_out == floor
    _order_equals(nearest, cosine)
    return left_out


@njit(cache=True, nogil=True)
def _order_equals(nearest, cosine):
    """Rows that are equally near in the order of their numbers."""
    for place in range(1, len(nearest)):
        row, at = nearest[place], place
        while at > 0 and cosine[at - 1] == cosine[place] and nearest[at - 1] > row >= 0:
            nearest[at] = nearest[at - 1]
            at -= 1
        nearest[at] = row


@njit(cache=True, nogil=True)
def _settle_ties(similarity, words, post_starts, post_rows, nearest, cosine):
    """Of rows that are as near as the last one kept, keep those that share the earlier words, as `touched` has them.

    Copies of a row are as near as it is, so ties are common where there are copies.
    """
    last = cosine[-1]
    left = len(nearest) - np.searchsorted(-cosine, -last)
    for word in words:
        for p in range(post_starts[word], post_starts[word + 1]):
            row = post_rows[p]
            if similarity[row] == last:
                similarity[row] = 0
                nearest[len(nearest) - left] = row
                left -= 1
                if left == 0:
                    return


@njit(cache=True, nogil=True)
def nearest_rows(
    first, last, starts, words, weights, post_starts, post_rows, post_weights, post_scales,
    rows, skip_self, nearest, cosine,
):  # fmt: skip
    """Add up the postings of each row's words, then keep the k rows with the largest sums, nearest first."""
    span = _WIDTH * _MEMBERS
    similarity, touched = np.zeros(rows, np.float32), np.empty(rows // _DENSE + 1, np.int32)
    maxima, lanes = np.empty(-(-rows // span) * _WIDTH, np.float32), np.empty(_LANES, np.float32)
    longest = 0
    for i in range(first, last):
        longest = max(longest, starts[i + 1] - starts[i])
    followed = np.empty(longest, np.int64)  # the tokens of a row whose words have postings
    for i in range(first, last):
        postings, tokens = 0, 0
        for t in range(starts[i], starts[i + 1]):
            word = np.uint64(words[t])
            size = post_starts[word + np.uint64(1)] - post_starts[word]
            postings += size
            followed[tokens] = t
            tokens += size > 0
        dense, count = postings * _DENSE > rows, 0
        for t in followed[:tokens]:
            word = np.uint64(words[t])
            start, stop, weight = post_starts[word], post_starts[word + np.uint64(1)], weights[t]
            if len(post_scales) > 0:
                weight *= post_scales[word]
            if dense:
                _add_postings(similarity, weight, start, stop, post_rows, post_weights)
            else:
                count = _add_noted_postings(similarity, weight, start, stop, post_rows, post_weights, touched, count)
        if skip_self:
            similarity[i] = 0
        if dense:
            if _keep_largest(similarity, maxima, lanes, nearest[i], cosine[i]):
                _settle_ties(
                    similarity, words[starts[i] : starts[i + 1]], post_starts, post_rows, nearest[i], cosine[i]
                )
            similarity[:] = 0
        else:
            _keep_touched(similarity, touched[:count], nearest[i], cosine[i])


@njit(cache=True, nogil=True)
def add_words(first, last, starts, words, weights, post_starts, post_rows, post_weights, post_scales, similarities):
    """Add the postings of each row's words to its similarities, rows x training rows."""
    for i in range(first, last):
        for t in range(starts[i], starts[i + 1]):
            word, weight = words[t], weights[t]
            if len(post_scales) > 0:
                weight *= post_scales[word]
            _add_postings(similarities[i], weight, post_starts[word], post_starts[word + 1], post_rows, post_weights)


@njit(cache=True, nogil=True)
def keep_nearest(first, last, starts, similarities, nearest, cosine):
    """As `nearest_rows`, where the similarities to all training rows are there already, rows x training rows."""
    rows = similarities.shape[1]
    maxima = np.empty(-(-rows // (_WIDTH * _MEMBERS)) * _WIDTH, np.float32)
    lanes = np.empty(_LANES, np.float32)
    for i in range(first, last):
        _keep_largest(similarities[i], maxima, lanes, nearest[i], cosine[i])


@njit(cache=True, nogil=True)
def _keep_touched(similarity, touched, nearest, cosine):
    """Keep the nearest of some rows, and forget all similarities."""
    floor, filled = np.float32(0), 0
    for row in touched:
        if similarity[row] > floor:
            filled = _keep(similarity[row], row, nearest, cosine, filled)
            floor = cosine[-1] if filled == len(nearest) else floor
        similarity[row] = 0
