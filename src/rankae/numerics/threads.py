"""Runs compiled loops on as many threads as torch uses.

The kernels release the GIL and run on plain threads. So one setting (`torch.set_num_threads`) governs matrix products
and kernels alike, calls from several threads of a server are safe, and forks remain possible.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from itertools import pairwise
from threading import Barrier
from typing import Any, TypeVar

import numpy as np
import torch
from threadpoolctl import threadpool_limits

Item = TypeVar("Item")


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


def each_on_one_thread(task: Callable[[Item], None], items: Sequence[Item]) -> None:
    """Call task(item) for every item, on as many threads as torch uses; within a task everything is single-threaded.

    For work of several steps, so that threads need not wait for each other after every step.
    """
    threads = min(len(items), torch.get_num_threads())
    if threads <= 1:
        for item in items:
            task(item)
        return
    for call in [_loners(threads, os.getpid()).submit(task, item) for item in items]:
        call.result()


def even_blocks(rows: int, most: int) -> list[slice]:
    """Blocks of nearly equal size, at most `most` rows each; their number is a multiple of the number of threads."""
    threads = torch.get_num_threads()
    count = threads * -(-rows // (threads * most))
    return [slice(a, b) for a, b in pairwise(rows * i // count for i in range(count + 1))]


@lru_cache(maxsize=4)
def _loners(threads: int, process: int) -> ThreadPoolExecutor:
    """Threads on which torch and `across_threads` are single-threaded."""
    before, all_started = torch.get_num_threads(), Barrier(threads + 1)

    def start() -> None:
        torch.get_num_threads()  # the first call in a thread initialises it, and would undo the next line
        torch.set_num_threads(1)  # for this thread, and as the default of threads that have not used torch yet
        all_started.wait()

    pool = ThreadPoolExecutor(threads, thread_name_prefix="rankae-block", initializer=start)
    for _ in range(threads):
        pool.submit(int)
    all_started.wait()
    torch.set_num_threads(before)
    return pool


@lru_cache(maxsize=4)
def _pool(threads: int, process: int) -> ThreadPoolExecutor:
    """One pool per process, because threads do not survive a fork."""
    return ThreadPoolExecutor(threads, thread_name_prefix="rankae-kernel")


@contextmanager
def numpy_on_one_thread() -> Iterator[None]:
    """Within the block numpy and scipy, whose BLAS adds up in another order on more threads, use one.

    What they solve here is small; large products go through torch and the kernels.
    """
    with threadpool_limits(1, user_api="blas"):
        yield


@contextmanager
def limited_to(threads: int | None) -> Iterator[None]:
    """Use this many threads within the block; None changes nothing."""
    if threads is None:
        yield
        return
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)
