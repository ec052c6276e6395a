"""Work in shards, each of which can be computed anywhere and repeated with the same result.

By default this process computes one shard after the other, which bounds its memory. Within `sharing(workers)` the work
goes to other workers, such as a cluster whose workers read `shared` from files and write their results to files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

Arrays = dict[str, np.ndarray]
Span = tuple[int, int]
# work(shared, settings, span): arrays and CSR matrices by name, JSON values, and a range of labels, rows or columns.
Work = Callable[[dict[str, Any], dict[str, Any], Span], Arrays]


class Workers(Protocol):
    least: float  # multiplications below which work is not worth sending

    def shards(self, least: int) -> int:
        """Number of shards for work that needs at least `least` of them."""

    def map(
        self, step: str, work: Work, shared: dict[str, Any], settings: dict[str, Any], spans: Sequence[Span]
    ) -> Iterator[Arrays]:
        """The results of `work` (a module-level function) for all spans, in order."""


class Here:
    """This process, one shard after the other."""

    least = 0.0

    def shards(self, least: int) -> int:
        return least

    def map(
        self, step: str, work: Work, shared: dict[str, Any], settings: dict[str, Any], spans: Sequence[Span]
    ) -> Iterator[Arrays]:
        for span in spans:
            yield work(shared, settings, span)


HERE = Here()
_workers: ContextVar[Workers] = ContextVar("workers", default=HERE)


def workers_for(multiplications: float) -> Workers:
    """The workers for work of this size: those of `sharing`, or this process if it is too small to send."""
    workers = _workers.get()
    return workers if multiplications >= workers.least else HERE


@contextmanager
def sharing(workers: Workers) -> Iterator[None]:
    """Within the block, `workers` do the work in shards."""
    token = _workers.set(workers)
    try:
        yield
    finally:
        _workers.reset(token)


def even_spans(size: int, count: int) -> list[Span]:
    """At most `count` spans of nearly equal length that cover 0 to `size`."""
    count = max(1, min(count, size))
    return [(size * i // count, size * (i + 1) // count) for i in range(count)]


def weighted_spans(weights: np.ndarray, count: int) -> list[Span]:
    """Consecutive spans of about equal total weight that cover all indices."""
    if not len(weights):
        return []
    ends = np.cumsum(weights, dtype=np.float64)
    cuts: np.ndarray = np.searchsorted(ends, np.linspace(0, ends[-1], count + 1)[1:-1], "right")
    cuts = np.unique(np.concatenate([[0], cuts, [len(weights)]])).astype(np.int64)
    return [(int(a), int(b)) for a, b in pairwise(cuts)]
