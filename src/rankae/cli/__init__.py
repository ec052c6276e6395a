"""The command `rankae`: one module a command, imported when the command is run, so that `--help` stays quick."""

from __future__ import annotations

from rankae.cli.entry import main

__all__ = ["main"]
