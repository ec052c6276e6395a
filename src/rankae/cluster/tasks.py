"""The task of a worker: computes one shard from input files and writes a result file."""

from __future__ import annotations

import json
import os
import socket
import time
from collections import OrderedDict
from dataclasses import dataclass
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any

from rankae.cluster.files import is_whole, open_checked, write_checked
from rankae.numerics.threads import limited_to

_KEPT_INPUTS = 8  # files that a worker keeps mapped, with what was made of them
_mapped: OrderedDict[str, dict[str, Any]] = OrderedDict()


@dataclass(frozen=True)
class Order:
    """One shard of work.

    step : name of the step, for display.
    work : "module:function".
    inputs : records of the files that it reads.
    settings : JSON values.
    span : range of labels, rows or columns.
    folder : for the result.
    """

    step: str
    work: str
    inputs: tuple[dict[str, Any], ...]
    settings: dict[str, Any]
    span: tuple[int, int]
    folder: str

    @property
    def key(self) -> str:
        """Identifies the work and its inputs."""
        identity = [self.work, [record["sha256"] for record in self.inputs], self.settings, list(self.span)]
        return f"{self.step}-{sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:24]}"

    @property
    def path(self) -> Path:
        return Path(self.folder) / f"{self.key}.safetensors"


def run_order(order: Order) -> dict[str, Any]:
    """Compute a shard unless its result exists; returns the record of its file with the worker and the time."""
    began = time.perf_counter()
    record = order.path.with_suffix(".json")
    if record.exists():
        finished = json.loads(record.read_text())
        if is_whole(finished):
            return finished | _by_whom(began, order)
    module, _, function = order.work.partition(":")
    work = getattr(import_module(module), function)
    shared: dict[str, Any] = {}
    for input_record in order.inputs:
        shared |= _opened(input_record)
    with limited_to(_threads()):
        arrays = work(shared, order.settings, tuple(order.span))
    return write_checked(order.path, arrays) | _by_whom(began, order)


def _opened(record: dict[str, Any]) -> dict[str, Any]:
    key = record["sha256"]
    if key not in _mapped:
        _mapped[key] = open_checked(record)
        while len(_mapped) > _KEPT_INPUTS:
            _mapped.popitem(last=False)
    _mapped.move_to_end(key)
    return _mapped[key]


def _threads() -> int:
    from distributed import get_worker

    try:
        return get_worker().state.nthreads
    except ValueError:  # no worker: called by hand
        return 1


def _by_whom(began: float, order: Order) -> dict[str, Any]:
    try:
        from distributed import get_worker

        worker = get_worker().address
    except ValueError:
        worker = f"{socket.gethostname()}:{os.getpid()}"
    return {"key": order.key, "step": order.step, "seconds": time.perf_counter() - began, "worker": worker}
