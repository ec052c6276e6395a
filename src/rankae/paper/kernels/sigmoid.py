"""A sigmoid that LLVM can vectorise; calls to libm's exp would make the loops around it scalar."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import types
from numba.extending import overload

from rankae.numerics.small_numbers import float_from_bits

# 2^f on [-1/2, 1/2] by a polynomial, to float32 accuracy.
_C0, _C1, _C2, _C3, _C4, _C5 = (
    np.polynomial.Chebyshev.interpolate(np.exp2, 5, domain=[-0.5, 0.5])
    .convert(kind=np.polynomial.Polynomial)
    .coef.astype(np.float32)
)
_MINUS_LOG2_E = np.float32(-math.log2(math.e))
_ONE, _LARGEST_POWER, _BIAS, _BIAS_AND_HALF = np.float32(1), np.float32(126), np.int32(127), np.float32(127.5)


def sigmoid(x: float) -> float:
    """1 / (1 + exp(-x)): exact in float64, to within a few units in the last place in float32."""
    return 1 / (1 + math.exp(-x))


@overload(sigmoid, inline="always")
def _typed_sigmoid(x: Any) -> Any:
    def in_float64(x: Any) -> Any:
        return 1 / (1 + math.exp(-x))

    def in_float32(x: Any) -> Any:
        power = min(max(x * _MINUS_LOG2_E, -_LARGEST_POWER), _LARGEST_POWER)
        # Truncation rounds to the nearest whole number because the sum is positive; 127 is a float's exponent bias.
        biased = np.int32(power + _BIAS_AND_HALF)
        # The bias comes off the whole number: off the sum, as fastmath likes to have it, it would cost f four digits.
        f = power - np.float32(np.int32(biased - _BIAS))
        fraction = _C0 + f * (_C1 + f * (_C2 + f * (_C3 + f * (_C4 + f * _C5))))
        # The exponent bits of a float hold a power of two, so 2^whole is written there rather than computed.
        return _ONE / (_ONE + fraction * float_from_bits(np.int32(biased << np.int32(23))))

    return in_float32 if x == types.float32 else in_float64
