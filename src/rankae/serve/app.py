"""The ASGI application: all routes behind the guard."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI

from rankae import __version__
from rankae.serve import figures, problems
from rankae.serve.guard import Guard
from rankae.serve.models import Shelf
from rankae.serve.routes import annif, batch, desk, inference, label_studio, labels, page, suggest
from rankae.serve.service import Service
from rankae.serve.settings import ServiceSettings
from rankae.serve.store import Store
from rankae.serve.work import WorkQueue

_ABOUT = "Labels for texts, with probabilities and reasons; decisions of people who know better; what engineers need."


def create_app(settings: ServiceSettings) -> FastAPI:
    """The ASGI application for these settings; models are loaded when it starts."""
    work = WorkQueue(settings.threads, settings.queue, settings.timeout, settings.batching)
    store = None if settings.desk is None else Store(Path(settings.desk))
    service = Service(settings, Shelf(settings.models), work, store)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        await asyncio.to_thread(service.shelf.open)
        figures.WAITING.set_function(lambda: work.waiting)
        work.start()
        watch = asyncio.create_task(service.shelf.watch(settings.reload_seconds))
        yield
        watch.cancel()
        await asyncio.to_thread(work.stop)
        if store is not None:
            store.close()

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


def from_environment() -> FastAPI:
    """The application factory of a worker process."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
    return create_app(ServiceSettings.from_environment())
