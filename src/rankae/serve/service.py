"""The objects that all routes share."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from weakref import WeakSet

from fastapi import Request

from rankae.serve.models import Shelf
from rankae.serve.problems import Refused
from rankae.serve.settings import ServiceSettings
from rankae.serve.store import Store
from rankae.serve.work import WorkQueue


@dataclass
class Service:
    """The objects that all routes share, as `app.state.service`."""

    settings: ServiceSettings
    shelf: Shelf
    work: WorkQueue
    store: Store | None
    files: WeakSet[tempfile.TemporaryDirectory[str]] = field(default_factory=WeakSet)  # of running batches

    @property
    def desk(self) -> Store:
        if self.store is None:
            raise Refused(409, "decisions are not kept: start the service with --desk FOLDER")
        return self.store


def service_of(request: Request) -> Service:
    return request.app.state.service
