"""The client for a value of `--cluster`: "local:N" starts N workers here, else it is a scheduler's address."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rankae.errors import MissingExtra, RankaeError

_MOST_LOCAL = 256
_PATIENCE = "20s"  # for a scheduler to answer
_SILENCE = "60s"  # after which a worker is given up and its tasks go to others


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """A `distributed.Client` with at least one worker."""
    try:
        import dask
        import distributed
    except ImportError:
        raise MissingExtra("--cluster", "cluster") from None
    local = re.fullmatch(r"local:(\d{1,4})", address)
    if address.startswith("local") and (local is None or not 1 <= int(local[1]) <= _MOST_LOCAL):
        raise RankaeError(f"--cluster is {address!r}; give local:N with 1 to {_MOST_LOCAL} workers, such as local:4")
    logging.getLogger("distributed").setLevel(logging.ERROR)
    if local is not None:
        dask.config.set({"distributed.scheduler.worker-ttl": _SILENCE})
        with (
            distributed.LocalCluster(
                n_workers=int(local[1]), threads_per_worker=1, processes=True, dashboard_address=":0", memory_limit=0,
                silence_logs=logging.CRITICAL,
            ) as cluster,
            distributed.Client(cluster) as client,
        ):  # fmt: skip
            yield client
        return
    try:
        client = distributed.Client(address, timeout=_PATIENCE)
    except (OSError, ValueError, TimeoutError) as error:
        raise RankaeError(f"--cluster {address}: no scheduler answers there ({error}); is it started?") from None
    with client:
        try:
            client.wait_for_workers(1, timeout=60)
        except TimeoutError:
            raise RankaeError(
                f"--cluster {address}: the scheduler has no workers; start some with `dask worker`"
            ) from None
        yield client


def dashboard(client: Any) -> str | None:
    """Where to watch the cluster, if its dashboard runs."""
    from importlib.util import find_spec

    return client.dashboard_link if find_spec("bokeh") else None
