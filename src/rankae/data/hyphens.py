"""Joins words that are hyphenated at the end of a line, as in texts from PDF files: Bundes-\\nregierung.

Hyphens that belong to the word (client-\\nserver) must stay. Which of the two is the rule is decided from the texts: by
whether the joined or the hyphenated word occurs elsewhere.
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
_FEWEST = 0.02  # share of the texts that must have a broken word
_KNOWN = 0.1  # share of the broken words that must occur unbroken elsewhere


def join_broken_words(text: str) -> str:
    """
    >>> join_broken_words("Antwort der Bundes-\\nregierung auf die Anfrage der SPD-\\nFraktion")
    'Antwort der Bundesregierung auf die Anfrage der SPD-\\nFraktion'
    """
    return _BREAK.sub(lambda match: "" if match.string[match.end()].islower() else match.group(), text)


def words_are_broken(texts: Sequence[str]) -> bool:
    """Whether words that are broken at the end of a line occur elsewhere without a hyphen, and seldom with it."""
    sample = [t[:_READ] for t in texts[:: max(1, len(texts) // _LOOKED_AT)][:_LOOKED_AT] if isinstance(t, str)]
    if sum(_BREAK.search(text) is not None for text in sample) <= _FEWEST * len(sample):
        return False
    vocabulary = {word for text in sample for word in _WORDS.findall(text.casefold())}
    halves = [pair for text in sample for pair in _halves(text.casefold())]
    unbroken = sum(first + second in vocabulary for first, second in halves)
    hyphenated = sum(f"{first}-{second}" in vocabulary for first, second in halves)
    return unbroken >= _KNOWN * len(halves) and unbroken > 2 * hyphenated


def _halves(text: str) -> Iterable[tuple[str, str]]:
    for match in _BREAK.finditer(text):
        first = _BEFORE.search(text, max(0, match.start() - _LONGEST), match.start())
        second = _AFTER.match(text, match.end(), match.end() + _LONGEST)
        if first is not None and second is not None:
            yield first.group(), second.group()
