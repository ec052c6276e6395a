"""Type-ahead search over label names, fast for a million labels."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import numpy as np

_KEY = 8  # bytes of a word in its search key
_SCANNED = 8_000_000  # bytes of the most frequent names that are searched for letters within a word
_LINE, _FIRST_BEYOND_ASCII = 10, 128


def folded(name: str) -> str:
    """Lower case without accents, on one line: "Déjà Vu" is found by "deja vu"."""
    name = unicodedata.normalize("NFKD", name.casefold()) if not name.isascii() else name.lower()
    return " ".join("".join(c for c in name if not unicodedata.combining(c)).split())


class LabelSearch:
    """Search label names by what was typed: first names that begin with it, then names with a word that begins with it,
    then names that contain it.

    All names are kept in one string, the most frequent first, so an earlier match is a better answer. The positions of
    word beginnings are sorted by the first eight bytes of the word.
    """

    def __init__(self, names: Sequence[str], counts: np.ndarray) -> None:
        self._order = np.argsort(-np.asarray(counts), kind="stable")
        lines = [f"\n{folded(names[i])}".encode("utf-8", "replace") for i in self._order.tolist()]
        self._starts = np.cumsum([0] + [len(line) for line in lines])[:-1]
        self._text = b"".join(lines) + b"\n" + bytes(_KEY)
        self._letters = np.frombuffer(self._text, dtype=np.uint8)
        places = _beginnings(self._letters[:-_KEY])
        keys = np.zeros(len(places), dtype=np.uint64)
        for i in range(_KEY):
            keys = keys << np.uint64(8) | self._letters[places + i]
        order = np.argsort(keys, kind="stable")
        self._keys, self._places = keys[order], places[order].astype(np.int32 if len(self._text) < 2**31 else np.int64)

    def find(self, typed: str, most: int = 10) -> list[int]:
        """Columns of the best `most` labels; the most frequent ones if nothing was typed."""
        needle = folded(typed).encode("utf-8", "replace")
        if not needle:
            return self._order[:most].tolist()
        places = self._words_with(needle)
        of_line = self._letters[places - 1] == _LINE
        found = dict.fromkeys(self._lines(places[of_line], most))
        if len(found) < most:
            found |= dict.fromkeys(self._lines(places[~of_line], most))
        at = -1
        while len(found) < most and (at := self._text.find(needle, at + 1, _SCANNED)) >= 0:
            found |= dict.fromkeys(self._lines(np.array([at]), 1))
            at = self._text.find(b"\n", at)  # each name counts once
        return self._order[list(found)[:most]].tolist()

    def _words_with(self, needle: bytes) -> np.ndarray:
        """Positions of words that begin with the needle."""
        ends = (needle[:_KEY].ljust(_KEY, fill) for fill in (b"\x00", b"\xff"))
        low, high = (np.uint64(int.from_bytes(end, "big")) for end in ends)
        places = self._places[np.searchsorted(self._keys, low) : np.searchsorted(self._keys, high, side="right")]
        if len(needle) <= _KEY:
            return places
        return np.array([at for at in places.tolist() if self._text.startswith(needle, at)], dtype=np.int64)

    def _lines(self, places: np.ndarray, most: int) -> list[int]:
        """The first names that contain these positions, in order; a name may contain several."""
        enough = 8 * most
        first = np.sort(np.partition(places, enough)[:enough] if len(places) > enough else places)
        return list(dict.fromkeys((np.searchsorted(self._starts, first, side="right") - 1).tolist()))[:most]


def _beginnings(letters: np.ndarray) -> np.ndarray:
    """Positions where a line or a word begins: a letter or digit after another character."""
    ascii_letters = [chr(i).isalnum() for i in range(_FIRST_BEYOND_ASCII)]
    is_letter = np.array([*ascii_letters, *[True] * (256 - _FIRST_BEYOND_ASCII)])[letters]
    begins = (is_letter[1:] & ~is_letter[:-1]) | (letters[:-1] == _LINE)
    return np.flatnonzero(begins[:-1]) + 1 if len(letters) > 1 else np.zeros(0, dtype=np.int64)
