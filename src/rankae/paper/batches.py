"""Batches in random order, prepared by a background thread."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from queue import Full, Queue
from typing import TypeVar

import numpy as np
import scipy.sparse as sp

from rankae.paper.bags import Bags, CodedRows
from rankae.paper.bilstm import Documents
from rankae.paper.rank_network import Batch, Rows

T = TypeVar("T")
_AHEAD = 4


def epoch_batches(
    rows: Rows, labels: sp.csr_matrix, size: int, word_dropout: float, seed: int, epoch: int
) -> Iterator[tuple[Batch, Bags]]:
    """The batches of one epoch, (features, positive labels).

    They depend only on seed and epoch, so that a resumed run sees the same batches as an uninterrupted one.
    """
    random = np.random.default_rng([seed, epoch])
    order = random.permutation(labels.shape[0])
    for start in range(0, len(order), size):
        part = order[start : start + size]
        yield _read(rows, part, word_dropout, random), Bags.from_csr(labels[part])


def _read(rows: Rows, part: np.ndarray, word_dropout: float, random: np.random.Generator) -> Batch:
    if isinstance(rows, CodedRows):
        return CodedRows(_dropped_words(rows.rows[part], word_dropout, random), rows.codes[part]).bags()
    if not sp.issparse(rows):
        return Documents.from_sequences([_dropped(rows[i], word_dropout, random) for i in part])
    return Bags.from_csr(_dropped_words(rows[part], word_dropout, random))  # type: ignore[call-overload]


def _dropped_words(chosen: sp.csr_matrix, share: float, random: np.random.Generator) -> sp.csr_matrix:
    if share:
        chosen.data *= (random.random(chosen.nnz) >= share) / np.float32(1 - share)
        chosen.eliminate_zeros()
    return chosen


def _dropped(tokens: np.ndarray, share: float, random: np.random.Generator) -> np.ndarray:
    return tokens[random.random(len(tokens)) >= share] if share else tokens


def ahead(make: Callable[[], Iterable[T]]) -> Iterator[T]:
    """Iterate over make() while a thread computes the next few items; its errors are raised here."""
    queue: Queue[tuple[bool, T | BaseException | None]] = Queue(_AHEAD)
    stopped = threading.Event()

    def put(more: bool, item: T | BaseException | None) -> None:
        while not stopped.is_set():
            try:
                queue.put((more, item), timeout=0.1)
                return
            except Full:
                continue

    def fill() -> None:
        try:
            for item in make():
                put(True, item)
                if stopped.is_set():
                    return
            put(False, None)
        except BaseException as error:
            put(False, error)

    thread = threading.Thread(target=fill, name="rankae-batches", daemon=True)
    thread.start()
    try:
        while True:
            more, item = queue.get()
            if not more:
                if item is not None:
                    raise item  # type: ignore[misc]
                return
            yield item  # type: ignore[misc]
    finally:
        stopped.set()
        thread.join()
