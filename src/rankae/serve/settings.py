"""The settings of the service."""

from __future__ import annotations

import ipaddress
import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Self

from rankae.errors import RankaeError

_ENVIRONMENT = "RANKAE_SERVE_SETTINGS"  # the variable through which worker processes receive them
_SHORTEST_TOKEN = 16
STARTED, FAILURE = "started", "failure"


@dataclass(frozen=True)
class ServiceSettings:
    """One field for each option of `rankae serve`, and the limits on every request.

    models : the folder of each model, by the name under which it is served.
    token : the access token that clients must send; None for open access.
    hosts : host names that browsers may use for a service without a token (against DNS rebinding); empty for any.
    threads : computing threads in each worker process.
    queue : texts that may wait in a worker before it answers 503.
    most_files : files of `batch` that a worker holds on disk at a time.
    timeout : seconds that a request may take, from its first byte to the model's answer.
    notes : a folder in which processes note that they have started (STARTED), or why they cannot (FAILURE).
    """

    models: dict[str, str]
    desk: str | None = None
    token: str | None = None
    hosts: tuple[str, ...] = ()
    threads: int = 1
    queue: int = 256
    timeout: float = 30.0
    most_body: int = 16 * 2**20
    most_upload: int = 2**30
    most_files: int = 8
    most_requests: int = 1024
    most_bytes: int = 256 * 2**20
    reload_seconds: float = 1.0
    log_requests: bool = False
    log_texts: bool = False
    batching: bool = True
    notes: str | None = None

    def to_environment(self) -> None:
        os.environ[_ENVIRONMENT] = json.dumps(asdict(self))

    @classmethod
    def from_environment(cls) -> Self:
        given = json.loads(os.environ[_ENVIRONMENT])
        return cls(**given | {"hosts": tuple(given["hosts"])})


@dataclass(frozen=True)
class Place:
    """The address on which the service listens."""

    host: str
    port: int
    workers: int = 1
    names: tuple[str, ...] = field(default=())

    @property
    def on_loopback(self) -> bool:
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def hosts(self) -> tuple[str, ...]:
        """Host names accepted in the Host header of a service without a token."""
        return tuple(dict.fromkeys(("localhost", "127.0.0.1", "::1", self.host, *self.names)))


def named_models(folders: list[Path]) -> dict[str, str]:
    """Map the name of each folder to the folder."""
    found: dict[str, str] = {}
    for folder in folders:
        name = folder.resolve().name
        if name in found:
            raise RankaeError(f"{folder} and {found[name]} would both be served as {name!r}; rename one of the folders")
        found[name] = str(folder.resolve())
    return found


def read_token(path: Path) -> str:
    token = path.read_text(encoding="utf-8").strip()
    if len(token) < _SHORTEST_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        raise RankaeError(
            f"{path}: a token is one line of at least {_SHORTEST_TOKEN} printable characters without blanks; make one "
            'with: python -c "import secrets; print(secrets.token_urlsafe())"'
        )
    return token
