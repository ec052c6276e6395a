"""Run a compiled loop on all threads that torch was given.

The kernels release Python's lock, so plain threads serve them: one setting (`torch.set_num_threads`) then governs
matrix products and kernels alike, calls from several threads of a server are safe, and a fork stays possible.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
import torch


def across_threads(kernel: Callable[..., Any], starts: np.ndarray, *arguments: Any) -> None:
    """Call kernel(first, last, starts, *arguments) for ranges of rows that hold about as many tokens each.

    starts : row i holds the tokens starts[i]:starts[i + 1].
    """
    rows = len(starts) - 1
    parts = min(rows, torch.get_num_threads())
    if parts <= 1:
        kernel(0, rows, starts, *arguments)
        return
    even = np.arange(1, parts) * starts[-1] // parts
    cuts = [0, *np.searchsorted(starts[:rows], even), rows]
    calls = [_pool(parts, os.getpid()).submit(kernel, a, b, starts, *arguments) for a, b in pairwise(cuts)]
    for call in calls:
        call.result()


@lru_cache(maxsize=4)
def _pool(threads: int, process: int) -> ThreadPoolExecutor:
    """One pool for each process: threads do not survive a fork."""
    return ThreadPoolExecutor(threads, thread_name_prefix="rankae-kernel")


@contextmanager
def limited_to(threads: int | None) -> Any:
    """Use this many threads within the block, and what was set before afterwards; None leaves them as they are."""
    if threads is None:
        yield
        return
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)
