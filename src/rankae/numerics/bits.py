"""Sets of words as bits, 64 to a number."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import intrinsic


@intrinsic
def bits_set(typingctx: Any, bits: Any) -> Any:
    """How many bits of a uint64 are set."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.uint64(types.uint64), codegen


@njit(cache=True, nogil=True)
def words_of_bits(bits, words):
    """Write the positions of the set bits to `words`, ascending; gives how many there are."""
    used = 0
    for block in range(len(bits)):
        left = bits[block]
        while left:
            words[used] = block * 64 + np.int64(bits_set((left & (~left + np.uint64(1))) - np.uint64(1)))
            left &= left - np.uint64(1)
            used += 1
    return used
