"""Stores lists of ascending integers in two bytes per number: the low half of each, and the count in each block of
65,536. In memory they are int32, or uint16 if that suffices."""

from __future__ import annotations

import numpy as np

from rankae.errors import ModelFileError
from rankae.numerics.shards import Span, weighted_spans

_BLOCK = 1 << 16
_PIECE = 1 << 22


def pieces(starts: np.ndarray) -> list[Span]:
    """Runs of lists with some million numbers each: what is worked out along the way need not stand in memory for all
    of them. List i has the numbers from starts[i] up to starts[i + 1]."""
    return weighted_spans(np.diff(starts) + 1, 1 + int(starts[-1]) // _PIECE)


def smallest(values: np.ndarray) -> np.ndarray:
    """Non-negative integers in the smallest type that holds them."""
    most = int(values.max(initial=0))
    return values.astype(
        np.uint8 if most < 2**8 else np.uint16 if most < 2**16 else np.uint32 if most < 2**32 else np.int64
    )


def pack_ascending(name: str, starts: np.ndarray, values: np.ndarray, limit: int) -> dict[str, np.ndarray]:
    """List i is values[starts[i]:starts[i + 1]], integers from 0 to below `limit`."""
    arrays = {f"{name}.sizes": smallest(np.diff(starts)), f"{name}.limit": np.array(limit, dtype=np.int64)}
    if limit <= _BLOCK:
        return arrays | {f"{name}.low": values.astype(np.uint16)}
    blocks = -(-limit // _BLOCK)
    found = [_in_blocks(starts[first : last + 1], values, blocks) for first, last in pieces(starts)]
    counts = smallest(np.concatenate([np.empty(0, np.int64), *found]))
    if counts.nbytes > 2 * len(values):
        return arrays | {f"{name}.whole": values.astype(np.int32)}
    return arrays | {f"{name}.low": values.astype(np.uint16), f"{name}.blocks": counts}  # which keeps the low half


def _in_blocks(starts: np.ndarray, values: np.ndarray, blocks: int) -> np.ndarray:
    """Of each list, how many of its numbers lie in each block."""
    lists = np.repeat(np.arange(len(starts) - 1, dtype=np.int64), np.diff(starts))
    own = values[starts[0] : starts[-1]] >> 16
    return smallest(np.bincount(lists * blocks + own, minlength=(len(starts) - 1) * blocks))


def unpack_ascending(name: str, arrays: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Starts and values; every value is checked to be below the limit, since files may be forged."""
    try:
        sizes, limit = arrays[f"{name}.sizes"].astype(np.int64), int(arrays[f"{name}.limit"])
        starts = np.concatenate([[0], np.cumsum(sizes)])
        if f"{name}.whole" in arrays:
            values = arrays[f"{name}.whole"]
        elif limit <= _BLOCK:
            values = arrays[f"{name}.low"]
        else:
            values, counts = arrays[f"{name}.low"].astype(np.int32), arrays[f"{name}.blocks"].astype(np.int64)
            blocks = -(-limit // _BLOCK)
            values += np.repeat(np.tile(np.arange(blocks, dtype=np.int32) << 16, len(sizes)), counts)
        if len(values) != starts[-1] or (len(values) and not 0 <= int(values.min()) <= int(values.max()) < limit):
            raise ValueError
    except (KeyError, ValueError, MemoryError, OverflowError) as error:
        raise ModelFileError(f"the model's list {name} is inconsistent; train it again") from error
    return starts, values
