"""The inner loop of the XMC and LibSVM readers: bytes of whole lines -> label and feature arrays, compiled."""

from __future__ import annotations

import numpy as np
from numba import njit

FINE, BAD_LABEL, BAD_FEATURE, BAD_VALUE, LABEL_RANGE, FEATURE_RANGE = range(6)

_SPACE, _TAB, _NEWLINE, _RETURN, _HASH = 32, 9, 10, 13, 35
_COMMA, _COLON, _DOT, _PLUS, _MINUS, _ZERO = 44, 58, 46, 43, 45, 48

_MOST_DIGITS = 18  # of an id, so that it cannot overflow
# Every power of ten up to 22 is exact in float64, so mantissa * power rounds once.
_TENS = 10.0 ** np.arange(23)
_MOST_MANTISSA = (2**63 - 10) // 10
_MOST_VALUE = 3.4028235677e38  # what still rounds to a finite float32


@njit(cache=True, nogil=True)
def _scaled(mantissa: float, exponent: int) -> float:
    if -22 <= exponent <= 0:
        return mantissa / _TENS[-exponent]
    if exponent < -340 or mantissa == 0.0:
        return 0.0
    if exponent > 340:
        return np.inf
    while exponent < -22:
        mantissa /= _TENS[22]
        exponent += 22
    while exponent > 22:
        mantissa *= _TENS[22]
        exponent -= 22
    return mantissa / _TENS[-exponent] if exponent < 0 else mantissa * _TENS[exponent]


@njit(cache=True, nogil=True)
def _number(text, at):
    """Read a decimal number; return its value and the place after it (-1 if there is no number)."""
    negative = False
    if text[at] == _MINUS or text[at] == _PLUS:
        negative = text[at] == _MINUS
        at += 1
    mantissa, exponent, digits, seen_dot = 0, 0, 0, False
    while True:
        c = text[at]
        if _ZERO <= c <= 57:
            digits += 1
            if mantissa <= _MOST_MANTISSA:
                mantissa = mantissa * 10 + (c - _ZERO)
                exponent -= seen_dot
            else:  # beyond 18 digits only the size matters
                exponent += not seen_dot
        elif c == _DOT and not seen_dot:
            seen_dot = True
        else:
            break
        at += 1
    if digits == 0:
        return 0.0, -1
    if text[at] == 101 or text[at] == 69:  # e, E
        at += 1
        sign = 1
        if text[at] == _MINUS or text[at] == _PLUS:
            sign = -1 if text[at] == _MINUS else 1
            at += 1
        power, digits = 0, 0
        while _ZERO <= text[at] <= 57:
            digits += 1
            power = min(power * 10 + (text[at] - _ZERO), 100_000)
            at += 1
        if digits == 0:
            return 0.0, -1
        exponent += sign * power
    value = _scaled(float(mantissa), exponent)
    return -value if negative else value, at


@njit(cache=True, nogil=True)
def _ends(c):
    return c <= _HASH and c in (_SPACE, _TAB, _NEWLINE, _RETURN, _HASH)


@njit(cache=True, nogil=True)
def parse(text, n_labels, n_features, label, label_end, feature, value, feature_end, line_of_row):
    """Parse `text` (uint8, ends with a newline) into the arrays that follow.

    Returns (rows, lines, problem, place): `problem` is FINE or what is wrong with the token at `place`.
    Each id must be below `n_labels` or `n_features`. Empty lines are no rows; a line with one blank is an empty row.
    """
    at, row, line, labels, features = 0, 0, 0, 0, 0
    n = len(text)
    while at < n:
        line += 1
        c = text[at]
        if c in (_NEWLINE, _HASH) or (c == _RETURN and text[at + 1] == _NEWLINE):
            while text[at] != _NEWLINE:
                at += 1
            at += 1
            continue
        # Labels: numbers and commas up to the first blank. A first token with a colon is a feature: no labels.
        start = at
        while not _ends(text[at]):
            begin, number = at, 0
            while _ZERO <= text[at] <= 57:
                number = number * 10 + (text[at] - _ZERO)
                at += 1
            c = text[at]
            if c == _COLON and begin == start and at > begin:
                at = start
                break
            if at == begin or not (c == _COMMA or _ends(c)):
                return row, line, BAD_LABEL, begin
            if number >= n_labels or at - begin > _MOST_DIGITS:
                return row, line, LABEL_RANGE, begin
            label[labels] = number
            labels += 1
            if c == _COMMA:
                at += 1
                if _ends(text[at]):
                    return row, line, BAD_LABEL, start
        while True:
            while text[at] == _SPACE or text[at] == _TAB or text[at] == _RETURN:
                at += 1
            if text[at] == _NEWLINE:
                break
            if text[at] == _HASH:
                while text[at] != _NEWLINE:
                    at += 1
                break
            begin, number = at, 0
            while _ZERO <= text[at] <= 57:
                number = number * 10 + (text[at] - _ZERO)
                at += 1
            if at == begin or text[at] != _COLON:
                return row, line, BAD_FEATURE, begin
            if number >= n_features or at - begin > _MOST_DIGITS:
                return row, line, FEATURE_RANGE, begin
            x, at = _number(text, at + 1)
            if at < 0 or not _ends(text[at]) or not abs(x) < _MOST_VALUE:
                return row, line, BAD_VALUE, begin
            feature[features] = number
            value[features] = x
            features += 1
        at += 1
        label_end[row] = labels
        feature_end[row] = features
        line_of_row[row] = line
        row += 1
    return row, line, FINE, 0
