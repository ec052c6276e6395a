"""Words that a page breaks at the end of a line, as texts taken from PDF files have them: Bundes-\\nregierung.

Where lines end at hyphens that belong to the word (client-\\nserver), there is nothing to join. The texts themselves
tell which it is: by what else they call the thing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_BREAK = re.compile(r"(?<=[^\W\d_])[-\u2010\u00ad][ \t\r]*\n[ \t]*(?=[^\W\d_])")
_BEFORE, _AFTER = re.compile(r"[^\W\d_]+$"), re.compile(r"[^\W\d_]+")
_WORDS = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_LOOKED_AT = 2000  # texts
_READ = 5000  # characters of a text
_LONGEST = 60  # characters of a word's half
_FEWEST = 0.02  # of the texts must hold a break: else it is not worth a setting
_KNOWN = 0.1  # of the broken words must stand unbroken elsewhere


def join_broken_words(text: str) -> str:
    """
    >>> join_broken_words("Antwort der Bundes-\\nregierung auf die Anfrage der SPD-\\nFraktion")
    'Antwort der Bundesregierung auf die Anfrage der SPD-\\nFraktion'
    """
    return _BREAK.sub(lambda found: "" if found.string[found.end()].islower() else found.group(), text)


def words_are_broken(texts: Sequence[str]) -> bool:
    """Whether words that end a line with a hyphen stand elsewhere without one, and seldom with it."""
    some = [t[:_READ] for t in texts[:: max(1, len(texts) // _LOOKED_AT)][:_LOOKED_AT] if isinstance(t, str)]
    if sum(_BREAK.search(text) is not None for text in some) <= _FEWEST * len(some):
        return False
    known = {word for text in some for word in _WORDS.findall(text.casefold())}
    halves = [pair for text in some for pair in _halves(text.casefold())]
    whole = sum(first + second in known for first, second in halves)
    hyphenated = sum(f"{first}-{second}" in known for first, second in halves)
    return whole >= _KNOWN * len(halves) and whole > 2 * hyphenated


def _halves(text: str) -> Iterable[tuple[str, str]]:
    for found in _BREAK.finditer(text):
        first = _BEFORE.search(text, max(0, found.start() - _LONGEST), found.start())
        second = _AFTER.match(text, found.end(), found.end() + _LONGEST)
        if first is not None and second is not None:
            yield first.group(), second.group()
