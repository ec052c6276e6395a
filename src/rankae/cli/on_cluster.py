"""`--cluster`: connects, prints the dashboard's address, and summarises the work of each worker."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rankae.cluster import ClusterWorkers


@contextmanager
def cluster_workers(address: str | None, folder: Path) -> Iterator[ClusterWorkers | None]:
    """Workers with a shared folder of inputs and results; None without a cluster."""
    if address is None:
        yield None
        return
    from rankae.cluster import ClusterWorkers

    with _client(address) as client:
        workers = ClusterWorkers(client, folder)
        yield workers
        for worker, steps in workers.summary()["workers"].items():
            done = ", ".join(f"{count} x {step}" for step, count in steps.items())
            typer.echo(f"{worker}: {done}", err=True)
        if workers.found:
            typer.echo(f"{workers.found} shards were finished before", err=True)


def sharing_with(workers: ClusterWorkers | None) -> Any:
    """A context in which training uses the workers for work in shards; without a cluster it does nothing."""
    if workers is None:
        return nullcontext()
    from rankae.numerics.shards import sharing

    return sharing(workers)


@contextmanager
def cell_runner(address: str | None) -> Iterator[tuple[Callable[..., Any] | None, int]]:
    """A function that runs a call on a worker and waits for it, and the number of workers; (None, 1) without a
    cluster."""
    if address is None:
        yield None, 1
        return
    with _client(address) as client:
        count = max(1, len(client.scheduler_info(n_workers=-1)["workers"]))

        def remote(function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
            return client.submit(function, *arguments, pure=False, retries=2, **named).result()

        yield remote, count


@contextmanager
def _client(address: str) -> Iterator[Any]:
    from rankae.cluster.connection import connected, dashboard

    with connected(address) as client:
        if link := dashboard(client):
            typer.echo(f"dashboard: {link}", err=True)
        yield client
