"""Converts float16 and integers to float32 within compiled loops, in a way that LLVM can vectorise.

numba has no float16 on the CPU, so its bits are given as uint16: sign, 5 bits of exponent and 10 of mantissa. Shifted
to the positions of a float32, they differ from it only by the bias of the exponent, a factor of 2^112.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

_MAGNITUDE, _SIGN, _BIAS = np.uint32(0x7FFF), np.uint32(0x8000), np.float32(2.0**112)


@intrinsic
def float_from_bits(typingctx: Any, bits: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.FloatType())

    return types.float32(bits), codegen


@intrinsic
def _bits_of_float(typingctx: Any, number: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.IntType(32))

    return types.uint32(types.float32), codegen


def number(x: Any) -> np.float32:
    """A stored number as float32; float16 is given by its bits. For compiled loops only."""
    raise NotImplementedError


@overload(number, inline="always")
def _typed_number(x: Any) -> Any:
    def from_half(x: Any) -> Any:
        size = float_from_bits(np.uint32((np.uint32(x) & _MAGNITUDE) << np.uint32(13))) * _BIAS
        return float_from_bits(np.uint32(_bits_of_float(size) | np.uint32((np.uint32(x) & _SIGN) << np.uint32(16))))

    def from_other(x: Any) -> Any:
        return np.float32(x)

    return from_half if x == types.uint16 else from_other
