"""Sockets and worker processes: start the service, and stop it after the accepted requests are answered."""

from __future__ import annotations

import logging
import os
import socket
import tempfile
from dataclasses import replace
from pathlib import Path

from rankae.errors import RankaeError
from rankae.serve.settings import FAILURE, Place, ServiceSettings

_GRACE_SECONDS = 30  # for requests that were accepted before the signal to stop
_BACKLOG = 1024


def listen(place: Place) -> socket.socket:
    """Bind the socket before anything is loaded, so that a port in use is reported at once."""
    try:
        family, _, _, _, address = socket.getaddrinfo(
            place.host, place.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
    except (OSError, OverflowError) as error:
        why = getattr(error, "strerror", None) or error
        raise RankaeError(f"{place.host}:{place.port}: {why}; choose another --host or --port") from None
    listener.set_inheritable(True)
    return listener


def run(settings: ServiceSettings, place: Place, listener: socket.socket) -> None:
    """Serve until a signal to stop. If the first processes cannot start, the reason is raised."""
    with tempfile.TemporaryDirectory(prefix="rankae-serve-", ignore_cleanup_errors=True) as folder:
        if place.workers > 1:
            # Workers write their metrics to this folder; prometheus_client reads the variable when it is imported.
            os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder
        os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
        replace(settings, notes=folder).to_environment()
        _run(place, listener)
        if (failure := Path(folder) / FAILURE).exists():
            raise RankaeError(failure.read_text(encoding="utf-8"))


def _run(place: Place, listener: socket.socket) -> None:
    import uvicorn
    from uvicorn.config import STARTUP_FAILURE
    from uvicorn.supervisors import Multiprocess

    config = uvicorn.Config(
        "rankae.serve.app:from_environment",
        factory=True,
        workers=place.workers,
        log_level="warning",
        access_log=False,
        server_header=False,
        backlog=_BACKLOG,
        timeout_graceful_shutdown=_GRACE_SECONDS,
        timeout_keep_alive=10,
        h11_max_incomplete_event_size=64 * 2**10,
    )
    try:
        if place.workers > 1:
            logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # that a worker failed; here comes why
            Multiprocess(config, sockets=[listener]).run()
        else:
            uvicorn.Server(config).run(sockets=[listener])
    except KeyboardInterrupt:
        pass  # uvicorn raises the signal again after a graceful shutdown
    except SystemExit as exit:
        if exit.code != STARTUP_FAILURE:
            raise
