"""`Workers` on a cluster: sends orders, receives records of result files, and keeps a manifest of finished ones."""

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
_WINDOW = 4  # orders per worker that are submitted at a time
_RETRIES = 3  # of a failed task, on any worker
_PATIENCE = 300.0  # seconds after which a task is also given to a second worker, if others took far less
_LONG = 10.0  # multiple of the median that counts as far more
_WORTH = 1e9  # multiplications, a second or two, below which the driver does the work itself
_LOOK = 1.0  # seconds between checks of running tasks


class ClusterWorkers:
    """
    Parameters
    ----------
    client : of `distributed`.
    folder : shared by all workers; holds inputs, results and the manifest. A later run with the same folder reuses
        finished shards.
    patience : seconds after which a task is also given to another worker.
    least : multiplications below which work is not sent to workers.

    Attributes
    ----------
    computed, found : number of shards computed, and of those that an earlier run had finished.
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
        """Current number of workers."""
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
        """Write the inputs of tasks; each matrix and large array gets a file of its own, which other steps can
        reuse."""
        folder, alone, together = self.folder / "inputs", [], {}
        for name, value in shared.items():
            if sp.issparse(value) or value.nbytes > 2**20:
                alone.append({name: value})
            else:
                together[name] = value
        return tuple(write_once(folder, group) for group in [*alone, *([together] if together else [])])

    def results(self, orders: Iterable[Order]) -> Iterator[Arrays]:
        """The results of orders, in sequence; only some are submitted at a time."""
        waiting: deque[tuple[Order, list[Any], float]] = deque()
        remaining = iter(orders)
        try:
            while True:
                while len(waiting) < _WINDOW * self.size and (order := next(remaining, None)) is not None:
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
        """Wait for the first worker to finish this order; submit it once more if it takes far longer than others."""
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
        """The futures that finish or fail before the next check."""
        from distributed import wait

        try:
            return list(wait(futures, timeout=_LOOK, return_when="FIRST_COMPLETED").done)
        except TimeoutError:
            return []

    def _ordered(self, order: Order) -> Any:
        return self.client.submit(run_order, order, pure=False, retries=_RETRIES, key=f"{order.key}-{time.time_ns()}")

    def _takes_long(self, seconds: float) -> bool:
        seconds_of_shards = [record["seconds"] for record in self._finished.values()]
        return seconds > max(self.patience, _LONG * median(seconds_of_shards) if seconds_of_shards else self.patience)

    def _failure(self, order: Order, future: Any) -> RankaeError:
        error = future.exception()
        if isinstance(error, RankaeError):
            return error
        what = f"{type(error).__name__}: {error}" if not isinstance(error, OSError) else (error.strerror or str(error))
        if type(error).__name__ == "KilledWorker":
            what = "its workers died or fell silent again and again (out of memory, or a network that fails?)"
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
        """Records of earlier runs; a truncated last line is ignored."""
        finished = {}
        path = self.folder / "manifest.jsonl"
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
            try:
                record = json.loads(line)
                finished[record["key"]] = record
            except (ValueError, KeyError, TypeError):
                continue
        return finished

    def summary(self) -> dict[str, Any]:
        """Number of shards of each step by worker, and the seconds of each step, for people and model.json."""
        return {
            "computed": self.computed,
            "found": self.found,
            "seconds": {step: round(taken, 2) for step, taken in self.seconds.items()},
            "workers": {worker: dict(steps) for worker, steps in sorted(self.done_by.items())},
        }
