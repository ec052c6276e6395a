"""Provenance of a measurement: code, data and machine, from which tables mark old rows."""

from __future__ import annotations

import os
import platform
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import rankae

_PACKAGE = Path(rankae.__file__).parent


def provenance(fingerprint: str) -> dict[str, Any]:
    """Version and commit of the package, fingerprint of the training rows, and the machine."""
    return {
        "version": rankae.__version__,
        "commit": commit(),
        "data": fingerprint,
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()}",
        "python": platform.python_version(),
    }


@cache
def commit() -> str | None:
    """The commit of the package's source, with a "+" if files differ from it; None outside a repository."""
    head = _git("rev-parse", "--short=10", "HEAD")
    if head is None or _git("ls-files", "--error-unmatch", "__init__.py") is None:
        return None  # an installed package may lie in somebody else's repository
    changed = _git("status", "--porcelain", "--untracked-files=no", "--", ".")
    return head + ("+" if changed else "")


@cache
def is_older(version: str | None, measured_at: str | None) -> bool:
    """Whether the package has changed since a cell of this version and commit was measured."""
    if measured_at is None or version != rankae.__version__:
        return True
    if measured_at == commit():
        return False
    changed = _git("diff", "--name-only", measured_at.removesuffix("+"), "HEAD", "--", ".")
    return changed is None or bool(changed) or measured_at.endswith("+")


def _git(*arguments: str) -> str | None:
    try:
        done = subprocess.run(["git", *arguments], cwd=_PACKAGE, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
