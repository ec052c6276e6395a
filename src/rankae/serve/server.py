"""Sockets and processes: from settings to a service that listens, and that stops when it has answered what it took."""

from __future__ import annotations

import os
import shutil
import socket
import tempfile

from rankae.errors import RankaeError
from rankae.serve.settings import Place, ServiceSettings

_GRACE_SECONDS = 30  # for requests that were accepted before the signal to stop
_BACKLOG = 1024


def listen(place: Place) -> socket.socket:
    """A socket that is bound, so that a port that is taken is one sentence before anything is loaded."""
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
    """Serve until a signal says stop."""
    figures_folder = None
    if place.workers > 1:
        # Every worker writes its figures there; it must be known before prometheus_client is imported.
        figures_folder = tempfile.mkdtemp(prefix="rankae-figures-")
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = figures_folder
    os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
    settings.to_environment()
    import uvicorn

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
            from uvicorn.supervisors import Multiprocess

            Multiprocess(config, sockets=[listener]).run()
        else:
            uvicorn.Server(config).run(sockets=[listener])
    except KeyboardInterrupt:
        pass  # uvicorn sends itself the signal again once every request has been answered: that is a good end
    finally:
        if figures_folder is not None:
            shutil.rmtree(figures_folder, ignore_errors=True)
