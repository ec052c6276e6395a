"""The ASGI application: all routes behind the guard."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI

from rankae import __version__
from rankae.errors import RankaeError
from rankae.serve import figures, problems
from rankae.serve.guard import Guard
from rankae.serve.models import Shelf
from rankae.serve.routes import annif, batch, desk, inference, label_studio, labels, page, suggest
from rankae.serve.service import Service
from rankae.serve.settings import FAILURE, STARTED, ServiceSettings
from rankae.serve.store import Store
from rankae.serve.work import WorkQueue

log = logging.getLogger("rankae.serve")
_PAUSE = 5.0  # seconds between two attempts to start a worker in the place of another
_ABOUT = "Labels for texts, with probabilities and reasons; decisions of people who know better; what engineers need."


def create_app(settings: ServiceSettings) -> FastAPI:
    """The ASGI application for these settings; models are loaded when it starts."""
    work = WorkQueue(settings.threads, settings.queue, settings.timeout, settings.batching)
    service = Service(settings, Shelf(settings.models), work, None)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        try:
            await asyncio.to_thread(_open, service)
        except Exception as error:
            await _cannot_start(error, settings.notes)
            raise
        if settings.notes is not None:
            (Path(settings.notes) / STARTED).touch()
        figures.WAITING.set_function(lambda: work.waiting)
        work.start()
        watch = asyncio.create_task(service.shelf.watch(settings.reload_seconds))
        yield
        watch.cancel()
        await asyncio.to_thread(work.stop)
        if service.store is not None:
            service.store.close()

    app = FastAPI(
        title="rankae",
        version=__version__,
        description=_ABOUT,
        lifespan=lifespan,
        docs_url=None,  # FastAPI's own page fetches scripts from elsewhere
        redoc_url=None,
    )
    app.state.service = service
    problems.install(app)
    for routes in (suggest, labels, batch, desk, annif, inference, label_studio, page):
        app.include_router(routes.router)
    app.add_middleware(Guard, settings=settings)
    return app


def _open(service: Service) -> None:
    if service.settings.desk is not None:
        service.store = Store(Path(service.settings.desk))
    service.shelf.open()


async def _cannot_start(error: Exception, notes: str | None) -> None:
    """Note the reason for the process that started this one; only what is unexpected is logged with a traceback.

    Where a worker takes the place of one that was killed, the others go on without it: it is started again and again.
    """
    if notes is None:
        return
    if (Path(notes) / STARTED).exists():
        log.error("a worker cannot start: %s", error)
        await asyncio.sleep(_PAUSE)
        os._exit(1)
    if isinstance(error, RankaeError | OSError | MemoryError):
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
    (Path(notes) / FAILURE).write_text(str(error) or type(error).__name__, encoding="utf-8")


def from_environment() -> FastAPI:
    """The application factory of a worker process."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
    return create_app(ServiceSettings.from_environment())
