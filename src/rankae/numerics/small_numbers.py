"""Numbers of two bytes or one, read as float32 within a loop, in a way that LLVM can vectorise.

numba knows no float16 on the CPU, so its bits come as uint16. They hold sign, 5 bits of exponent and 10 of mantissa;
shifted into the place of a float32's, they differ from it by the exponent's bias alone: a factor of 2^112.
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
