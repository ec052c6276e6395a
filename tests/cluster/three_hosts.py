"""Three hosts on one machine: network namespaces with an address each, joined by a switch that is a namespace too.

Nothing of the machine's own network is touched, and only addresses within the namespaces are used.
"""

from __future__ import annotations

import os
import subprocess
from typing import Any

PREFIX = f"rankae-{os.getpid()}"
ADDRESSES = ("10.29.0.1", "10.29.0.2", "10.29.0.3")


def ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True, text=True)


def why_not() -> str | None:
    """Why this machine can have no such hosts, or None if it can."""
    try:
        ip("netns", "add", f"{PREFIX}-probe")
        try:
            ip("-n", f"{PREFIX}-probe", "link", "add", "probe", "type", "veth", "peer", "name", "other")
            ip("-n", f"{PREFIX}-probe", "link", "add", "switch", "type", "bridge")
        finally:
            ip("netns", "delete", f"{PREFIX}-probe")
    except FileNotFoundError:
        return "there is no command `ip`"
    except subprocess.CalledProcessError as error:
        return f"network namespaces are not allowed here: {error.stderr.strip()}"
    return None


class ThreeHosts:
    """Hosts 0, 1 and 2, while the block lasts; whatever runs on them ends with it."""

    def __enter__(self) -> ThreeHosts:
        self._running: list[subprocess.Popen[str]] = []
        self._switch = f"{PREFIX}-switch"
        ip("netns", "add", self._switch)
        ip("-n", self._switch, "link", "add", "switch", "type", "bridge")
        ip("-n", self._switch, "link", "set", "switch", "up")
        for host, address in enumerate(ADDRESSES):
            own, port = self._name(host), f"port{host}"
            ip("netns", "add", own)
            ip("-n", self._switch, "link", "add", port, "type", "veth", "peer", "name", "wire", "netns", own)
            ip("-n", self._switch, "link", "set", port, "master", "switch")
            ip("-n", own, "address", "add", f"{address}/24", "dev", "wire")
            ip("-n", own, "link", "set", "lo", "up")
            ip("-n", own, "link", "set", "wire", "up")
            self.join(host)
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._running:
            process.kill()
            process.wait()
        for name in (*map(self._name, range(len(ADDRESSES))), self._switch):
            ip("netns", "delete", name)

    def run(self, host: int, *command: str, **options: Any) -> subprocess.Popen[str]:
        """Start a command on a host."""
        process = subprocess.Popen(["ip", "netns", "exec", self._name(host), *command], text=True, **options)
        self._running.append(process)
        return process

    def cut_off(self, host: int) -> None:
        """Pull its cable: nobody is told, packets just stay away."""
        ip("-n", self._switch, "link", "set", f"port{host}", "down")

    def join(self, host: int) -> None:
        ip("-n", self._switch, "link", "set", f"port{host}", "up")

    @staticmethod
    def _name(host: int) -> str:
        return f"{PREFIX}-host{host}"
