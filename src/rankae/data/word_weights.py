"""Converts word counts to weights in one compiled loop: (sublinear) tf-idf and L2 normalisation."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True, error_model="numpy")
def weigh(starts, columns, values, word_weights, sublinear, norm, first_of_title, title):
    """Row i has values[starts[i]:starts[i + 1]], which are changed in place.

    first_of_title, title : columns from the first on are words of the title; their vector gets `title` times the length
        of that of the other words.
    """
    for i in range(len(starts) - 1):
        squares, of_title = np.float32(0), np.float32(0)
        for t in range(starts[i], starts[i + 1]):
            value = values[t]
            if sublinear and value != 1:
                value = 1 + np.log(value)
            value *= word_weights[columns[t]]
            values[t] = value
            if columns[t] < first_of_title:
                squares += value * value
            else:
                of_title += value * value
        share = title * np.sqrt(squares / of_title) if of_title > 0 and squares > 0 else np.float32(1)
        length = np.sqrt(squares + share * share * of_title)
        scale = 1 / length if norm and length > 0 else np.float32(1)
        if scale != 1 or share != 1:
            for t in range(starts[i], starts[i + 1]):
                values[t] *= scale if columns[t] < first_of_title else scale * share
