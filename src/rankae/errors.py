"""Errors that a user can cause: each carries one sentence that says what, where and what to do."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(given: object, known: Iterable[str]) -> str:
    """ "did you mean 'parabel'? ", where a known name is near enough to what was given; else nothing."""
    found = get_close_matches(str(given), list(known), n=1)
    return f"did you mean {found[0]!r}? " if found else ""


class RankaeError(ValueError):
    """A user's mistake. The command line prints the sentence and ends with exit code 2."""


class DataError(RankaeError):
    """A data file or a matrix that cannot be read as it stands."""


class ModelFileError(RankaeError):
    """A model folder that is damaged, foreign or newer than this version."""


class MissingExtra(RankaeError):
    """An optional dependency that is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an optional package; install it with: pip install 'rankae[{extra}]'")


class OtherRank(Exception):
    """Training is over on a process that is not the first of several: that one has the whole network."""
