"""A process for each measurement, so that its peak of memory and its threads are its own."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any, TypeVar

T = TypeVar("T")
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")


def limit_threads(threads: int) -> None:
    """Let every process that is started from now on use this many threads."""
    for name in _THREAD_VARIABLES:
        os.environ[name] = str(threads)


def alone(function: Callable[..., T], *arguments: Any) -> T:
    """function(*arguments) in a fresh process that ends with it.

    The caller must stay small: Linux counts what a parent holds at the start of a child as the child's peak.
    """
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(function, *arguments).result()
