"""Work that falls into shards, each of which can be done anywhere, any number of times, with the same result.

What runs here runs shard after shard, which bounds its memory. Within `sharing(workers)`, whoever has such work hands
it over instead: a cluster, for example, whose workers read `shared` from files and leave their results in files.
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
# work(shared, settings, span): arrays and CSR matrices by name, JSON values, and which labels, rows or columns.
Work = Callable[[dict[str, Any], dict[str, Any], Span], Arrays]


class Workers(Protocol):
    least: float  # multiplications that are worth the way to others

    def shards(self, least: int) -> int:
        """Into how many shards to cut work that needs `least` of them."""

    def map(
        self, step: str, work: Work, shared: dict[str, Any], settings: dict[str, Any], spans: Sequence[Span]
    ) -> Iterator[Arrays]:
        """What `work` gives for each span, in their order; `work` is a function of a module."""


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
    """Who does work of this size: the others within `sharing`, unless it is too small for the way to them."""
    others = _workers.get()
    return others if multiplications >= others.least else HERE


@contextmanager
def sharing(others: Workers) -> Iterator[None]:
    """Within the block, `others` do the work that falls into shards."""
    token = _workers.set(others)
    try:
        yield
    finally:
        _workers.reset(token)


def even_spans(size: int, count: int) -> list[Span]:
    """0 to `size` in at most `count` runs of nearly one length."""
    count = max(1, min(count, size))
    return [(size * i // count, size * (i + 1) // count) for i in range(count)]


def weighted_spans(weights: np.ndarray, count: int) -> list[Span]:
    """Runs of places that weigh about as much each; every place belongs to one."""
    if not len(weights):
        return []
    ends = np.cumsum(weights, dtype=np.float64)
    cuts: np.ndarray = np.searchsorted(ends, np.linspace(0, ends[-1], count + 1)[1:-1], "right")
    cuts = np.unique(np.concatenate([[0], cuts, [len(weights)]])).astype(np.int64)
    return [(int(a), int(b)) for a, b in pairwise(cuts)]
