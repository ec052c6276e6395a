"""`Workers` on a cluster: orders go out, records of files come back, and a manifest keeps what is finished."""

from __future__ import annotations

import json
import os
import time
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import scipy.sparse as sp

from rankae.cluster.files import is_whole, open_checked, write_once
from rankae.cluster.tasks import Order, run_order
from rankae.errors import RankaeError
from rankae.numerics.shards import Arrays, Span, Work
from rankae.progress import bar

_SHARDS_PER_WORKER = 3  # so that a slow worker holds up no more than a third of its share
_WINDOW = 4  # orders per worker that are out at a time
_RETRIES = 3  # of a task that fails, on whichever worker
_PATIENCE = 300.0  # seconds a task may take before a second worker is asked as well, if others took far less
_LONG = 10.0  # so many times the median
_WORTH = 1e9  # multiplications, a second or two, below which work stays with the driver
_LOOK = 1.0  # seconds between looks at tasks that take long


class ClusterWorkers:
    """
    Parameters
    ----------
    client : of `distributed`.
    folder : shared by all workers; holds inputs, results and the manifest. A later run with the same folder takes from
        it what is finished.
    patience : seconds that a task may take before another worker is asked for it as well.
    least : multiplications that are worth the way to a worker.

    Attributes
    ----------
    computed, found : how many shards were done, and how many an earlier run had finished.
    """

    def __init__(self, client: Any, folder: str | Path, patience: float = _PATIENCE, least: float = _WORTH) -> None:
        self.least = least
        self.client, self.folder, self.patience = client, Path(folder).resolve(), patience
        self.folder.mkdir(parents=True, exist_ok=True)
        self.computed, self.found = 0, 0
        self.done_by: dict[str, Counter[str]] = defaultdict(Counter)
        self.seconds: Counter[str] = Counter()
        self._finished = self._read_manifest()

    @property
    def size(self) -> int:
        """Workers that are there now."""
        return max(1, len(self.client.scheduler_info(n_workers=-1)["workers"]))

    def shards(self, least: int) -> int:
        return max(least, _SHARDS_PER_WORKER * self.size)

    def map(
        self, step: str, work: Work, shared: dict[str, Any], settings: dict[str, Any], spans: Sequence[Span]
    ) -> Iterator[Arrays]:
        inputs = self.share(shared)
        name = f"{work.__module__}:{work.__qualname__}"
        folder = str(self.folder / "shards")
        orders = [Order(step, name, inputs, settings, span, folder) for span in spans]
        with bar(f"{step}, {self.size} workers", len(orders)) as progress:
            for arrays in self.results(orders):
                progress.advance()
                yield arrays

    def share(self, shared: dict[str, Any]) -> tuple[dict[str, Any], ...]:
        """Write what tasks read: each matrix and each large array to a file of its own, which other steps may share."""
        folder, alone, together = self.folder / "inputs", [], {}
        for name, value in shared.items():
            if sp.issparse(value) or value.nbytes > 2**20:
                alone.append({name: value})
            else:
                together[name] = value
        return tuple(write_once(folder, own) for own in [*alone, *([together] if together else [])])

    def results(self, orders: Iterable[Order]) -> Iterator[Arrays]:
        """The results of orders, in their order; only some are out at a time."""
        waiting: deque[tuple[Order, list[Any], float]] = deque()
        left = iter(orders)
        try:
            while True:
                while len(waiting) < _WINDOW * self.size and (order := next(left, None)) is not None:
                    waiting.append((order, self._submitted(order), time.monotonic()))
                if not waiting:
                    return
                order, futures, began = waiting.popleft()
                record = self._finished.get(order.key) if not futures else self._record(order, futures, began)
                assert record is not None
                yield open_checked(record)
        finally:
            for _, futures, _ in waiting:
                self.client.cancel(futures)

    def _submitted(self, order: Order) -> list[Any]:
        known = self._finished.get(order.key)
        if known is not None and is_whole(known):
            self.found += 1
            return []
        return [self._ordered(order)]

    def _record(self, order: Order, futures: list[Any], began: float) -> dict[str, Any]:
        """Wait for the first of the workers who do this order; ask one more when it takes far longer than others."""
        while True:
            for future in self._done_soon(futures):
                if future.status == "finished":
                    record = future.result()
                    if not is_whole(record):  # the file was cut or changed after it had been written
                        futures[:] = [self._ordered(order)]
                        break
                    self._note(record)
                    self.client.cancel([other for other in futures if other is not future])
                    return record
                if len(futures) == 1:
                    raise self._failure(order, future)
                futures.remove(future)
            if len(futures) == 1 and self._takes_long(time.monotonic() - began):
                futures.append(self._ordered(order))
                began = time.monotonic()

    def _done_soon(self, futures: list[Any]) -> list[Any]:
        """Those that are done, one way or the other, within the time between two looks."""
        from distributed import wait

        try:
            return list(wait(futures, timeout=_LOOK, return_when="FIRST_COMPLETED").done)
        except TimeoutError:
            return []

    def _ordered(self, order: Order) -> Any:
        return self.client.submit(run_order, order, pure=False, retries=_RETRIES, key=f"{order.key}-{time.time_ns()}")

    def _takes_long(self, seconds: float) -> bool:
        own = [record["seconds"] for record in self._finished.values()]
        return seconds > max(self.patience, _LONG * median(own) if own else self.patience)

    def _failure(self, order: Order, future: Any) -> RankaeError:
        error = future.exception()
        if isinstance(error, RankaeError):
            return error
        what = f"{type(error).__name__}: {error}" if not isinstance(error, OSError) else (error.strerror or str(error))
        if type(error).__name__ == "KilledWorker":
            what = "its workers died again and again, most likely for want of memory"
        return RankaeError(
            f"the cluster could not finish {order.step} {order.span[0]} to {order.span[1]}: {what}; "
            "what is finished is kept, start the command again with --resume"
        )

    def _note(self, record: dict[str, Any]) -> None:
        self.computed += 1
        self._finished[record["key"]] = record
        self.done_by[record["worker"]][record["step"]] += 1
        self.seconds[record["step"]] += record["seconds"]
        with open(self.folder / "manifest.jsonl", "a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def _read_manifest(self) -> dict[str, dict[str, Any]]:
        """What earlier runs have finished; a last line that was cut off is passed over."""
        found = {}
        path = self.folder / "manifest.jsonl"
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
            try:
                record = json.loads(line)
                found[record["key"]] = record
            except (ValueError, KeyError, TypeError):
                continue
        return found

    def summary(self) -> dict[str, Any]:
        """For people and for model.json: who did how many shards of what, and the seconds of each step."""
        return {
            "computed": self.computed,
            "found": self.found,
            "seconds": {step: round(taken, 2) for step, taken in self.seconds.items()},
            "workers": {worker: dict(steps) for worker, steps in sorted(self.done_by.items())},
        }
