"""A small model, and services on loopback that serve it."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import httpx
import numpy as np
import pytest
import uvicorn

from rankae import RankAE
from rankae.methods import create
from rankae.serve.app import create_app
from rankae.serve.settings import ServiceSettings

LABELS = {
    "fruit": "apple pear plum cherry orchard",
    "drink": "wine beer juice bottle glass",
    "tool": "hammer saw drill nail bench",
    "<b>markup</b>": "angle bracket element attribute",
}


def documents(rows: int = 160, seed: int = 0) -> tuple[list[str], list[list[str]]]:
    """Texts of words of one or two of `LABELS`."""
    rng = np.random.default_rng(seed)
    texts, labels = [], []
    for _ in range(rows):
        own = sorted(rng.choice(list(LABELS), rng.integers(1, 3), replace=False).tolist())
        words = [word for label in own for word in rng.choice(LABELS[label].split(), 3).tolist()]
        texts.append(" ".join(words))
        labels.append(own)
    return texts, labels


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("models") / "shop"
    RankAE("fast", random_state=0, threads=1).fit(*documents()).save(place)
    return place


@pytest.fixture(scope="session")
def uncalibrated_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("models") / "plain"
    create("one-vs-rest").fit(*documents()).save(place)
    return place


class Running:
    """A service in a thread, and a client for it."""

    def __init__(self, settings: ServiceSettings) -> None:
        listener = socket.socket()
        listener.bind(("127.0.0.1", 0))
        self.port = listener.getsockname()[1]
        self.address = f"http://127.0.0.1:{self.port}"
        self.app = create_app(settings)
        self.server = uvicorn.Server(uvicorn.Config(self.app, log_level="warning", timeout_graceful_shutdown=5))
        self.thread = Thread(target=self.server.run, kwargs={"sockets": [listener]})
        self.thread.start()
        self.client = httpx.Client(base_url=self.address, timeout=120, transport=httpx.HTTPTransport(retries=3))
        while not self.server.started and self.thread.is_alive():
            self.thread.join(0.01)

    def stop(self) -> None:
        self.client.close()
        self.server.should_exit = True
        self.thread.join()


Start = Callable[..., Running]


@pytest.fixture
def start(model_folder: Path) -> Iterator[Start]:
    """Starts services with the settings that a test wants, and stops them after it."""
    running: list[Running] = []

    def run(**settings: Any) -> Running:
        models = settings.pop("models", {"shop": str(model_folder)})
        running.append(Running(ServiceSettings(models=models, **settings)))
        return running[-1]

    yield run
    for one in running:
        one.stop()


@pytest.fixture(scope="module")
def service(model_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """One service with a desk, shared by the tests of a file."""
    desk = str(tmp_path_factory.mktemp("desk"))
    one = Running(ServiceSettings(models={"shop": str(model_folder)}, desk=desk))
    yield one
    one.stop()


@pytest.fixture
def client(service: Running) -> Any:
    return service.client
