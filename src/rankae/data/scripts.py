"""Word boundaries in scripts where a word is not just a run of letters.

Chinese, Japanese, Thai, Lao, Khmer and Burmese have no blanks between words. A run of these characters is split into
its characters and their pairs, which needs no dictionary; all other words stay whole.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import pairwise

_WITHOUT_BLANKS = (
    "\u0e01-\u0e3a\u0e40-\u0e4e"  # Thai
    "\u0e81-\u0ebd\u0ec0-\u0ece\u0edc-\u0edf"  # Lao
    "\u1000-\u103f\u1050-\u109f\uaa60-\uaa7f\ua9e0-\ua9fe"  # Burmese
    "\u1780-\u17d3\u17dc\u17dd"  # Khmer
    "\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c"  # signs of Chinese and Japanese that are letters
    "\u3041-\u3096\u3099-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"  # Hiragana and Katakana
    "\u3105-\u312f\u31a0-\u31bf"  # Bopomofo
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # Han
)
_RARE_HAN = "\U00020000-\U000323af"
_JOINERS = "\u200c\u200d"  # of Persian and Indic words; they show how letters join, and do not part words
_SOFT_HYPHEN = "\u00ad"
_DOTTED_I = "\u0130"  # of Turkish; in lower case it would be an i and a mark
_FULL_WIDTH = "\uff01-\uff9f\uffe0-\uffe6"  # Latin letters as wide as Han, and Katakana half as wide
_LAST_OF_PLANE = 0xFFFF  # of characters that nearly all texts do with: a class of these alone is searched faster
_LAST_MARK = 0x1E94A  # the marks beyond choose between forms of one character
_BEYOND = re.compile("[\U00010000-\U0010ffff]")
_RUNS = re.compile(f"([{_WITHOUT_BLANKS}{_RARE_HAN}][{_WITHOUT_BLANKS}{_RARE_HAN}{_JOINERS}{_SOFT_HYPHEN}]*)")


def careful_word(text: str) -> re.Pattern[str] | None:
    """The pattern of words for a text with marks, joiners, soft hyphens or scripts without blanks; None for other
    texts.

    It is `rankae.data.tokens.WORD` extended by the marks, joiners and soft hyphens that follow a letter.
    """
    if _BEYOND.search(text) is not None and _patterns(_LAST_MARK)[0].search(text) is not None:
        return _patterns(_LAST_MARK)[1]
    care, word = _patterns(_LAST_OF_PLANE)
    return None if care.search(text) is None else word


@cache
def _patterns(last: int) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """A character that takes care, and a word, with the marks up to the last one."""
    marks = _marks(last)
    rare = _RARE_HAN if last > _LAST_OF_PLANE else ""
    letters = rf"\w[\w{marks}{_JOINERS}{_SOFT_HYPHEN}]*"
    return (
        re.compile(f"[{marks}{_WITHOUT_BLANKS}{rare}{_JOINERS}{_SOFT_HYPHEN}{_DOTTED_I}{_FULL_WIDTH}]"),
        re.compile(rf"{letters}(?:[+.-]+{letters})*"),
    )


def _marks(last: int) -> str:
    """The characters that change the one before, such as accents and vowel signs, as ranges of a character class."""
    ranges: list[list[int]] = []
    for point in range(0x300, last + 1):
        if unicodedata.category(chr(point))[0] == "M":
            if ranges and ranges[-1][1] == point - 1:
                ranges[-1][1] = point
            else:
                ranges.append([point, point])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)


def words_of_run(run: str) -> list[str]:
    """The words of a match of `careful_word`: the match itself, or characters and pairs if its script has no blanks.

    >>> words_of_run("Zürich"), words_of_run("日本語")
    (['Zürich'], ['日本', '本語', '日', '本', '語'])
    """
    words: list[str] = []
    for i, piece in enumerate(_RUNS.split(composed(run))):
        if i % 2 == 0:
            words += filter(None, (piece.strip("+.-" + _JOINERS),))
        else:
            characters = _characters(piece)
            # Pairs stand together, so that a pair of neighbouring words is a run of three characters.
            words += map("".join, pairwise(characters))
            words += characters
    return words


def spans_of_run(run: str, begin: int) -> Iterator[tuple[int, int, str]]:
    """The positions of the words in a match of `careful_word` at `begin`: whole words, or single characters."""
    for i, piece in enumerate(_RUNS.split(run)):
        for part in (piece,) if i % 2 == 0 else _characters(piece):
            if word := part.strip("+.-" + _JOINERS):
                yield begin, begin + len(part), word
            begin += len(part)


@lru_cache(maxsize=2**14)
def composed(run: str) -> str:
    """The word in normal form: composed accents, Latin letters of normal width, no soft hyphens."""
    run = re.sub(f"[{_FULL_WIDTH}]+", lambda wide: unicodedata.normalize("NFKC", wide.group()), run)
    return unicodedata.normalize("NFC", run.replace(_SOFT_HYPHEN, "").replace("i\u0307", "i"))


def _characters(run: str) -> list[str]:
    """The characters of a run, each with its marks."""
    characters: list[str] = []
    for character in run:
        if characters and (character in _SOFT_HYPHEN + _JOINERS or unicodedata.category(character)[0] == "M"):
            characters[-1] += character
        else:
            characters.append(character)
    return characters


def without_accents(word: str) -> str:
    """
    >>> without_accents("éte"), without_accents("naïve")
    ('ete', 'naive')
    """
    if word.isascii():
        return word
    apart = unicodedata.normalize("NFD", word)
    # Vowel signs of Indic scripts are marks too, but must stay.
    return unicodedata.normalize("NFC", "".join(c for c in apart if not "\u0300" <= c <= "\u036f"))
