"""Type-ahead over label names: quick among a million, without an index to keep."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import numpy as np

_MOST_HITS = 4000  # a needle that is found more often than that is ranked among its first so many


def folded(name: str) -> str:
    """Lower case without accents, on one line: "Déjà Vu" is found by "deja vu"."""
    name = unicodedata.normalize("NFKD", name.casefold()) if not name.isascii() else name.lower()
    return " ".join("".join(c for c in name if not unicodedata.combining(c)).split())


class LabelSearch:
    """Names whose beginning, one of whose words' beginnings, or any of whose letters are those that were typed.

    The names stand in one string, most frequent first, so that one pass of `bytes.find` gives hits in that order.
    """

    def __init__(self, names: Sequence[str], counts: np.ndarray) -> None:
        self._order = np.argsort(-np.asarray(counts), kind="stable")
        lines = [f"\n{folded(names[i])}".encode("utf-8", "replace") for i in self._order.tolist()]
        self._text = b"".join(lines) + b"\n"
        self._starts = np.cumsum([0] + [len(line) for line in lines])[:-1]

    def find(self, typed: str, most: int = 10) -> list[int]:
        """Columns of the best `most` labels; without a letter typed, the most frequent ones."""
        needle = folded(typed).encode("utf-8", "replace")
        if not needle:
            return self._order[:most].tolist()
        found = dict.fromkeys(self._hits(b"\n" + needle, most))
        if len(found) < most:
            anywhere = self._hits(needle, _MOST_HITS, begins_word=False)
            words = [line for line, begins in anywhere if begins]
            found |= dict.fromkeys([*words, *(line for line, begins in anywhere if not begins)])
        return [int(self._order[line]) for line in list(found)[:most]]

    def _hits(self, needle: bytes, most: int, begins_word: bool | None = None) -> list:
        """Lines that hold the needle, in order; with `begins_word`, also whether it begins a word there."""
        text, at = self._text, -1
        places: list[int] = []
        find = text.find
        while len(places) < most and (at := find(needle, at + 1)) >= 0:
            places.append(at)
        lines = (np.searchsorted(self._starts, places, side="right") - 1).tolist()
        if begins_word is None:
            return lines
        return [(line, not chr(text[at - 1]).isalnum()) for line, at in zip(lines, places, strict=True)]
