"""Cutting a text into words: by a regular expression, or, for the words that most texts have, by a quicker way."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import repeat

from rankae.data.scripts import careful_word, composed, spans_of_run, without_accents, words_of_run
from rankae.data.token_pattern import READ_AT_ONCE, checked_pattern
from rankae.errors import DataError

WORD = r"\w+(?:[+.-]+\w+)*"  # c++, node.js and x-ray are words, but no word ends in a dot
VERSION = 2  # of how words are cut; 1 took a clause of Chinese or Thai for one word, and cut words at vowel signs
_SAME_AS_WORD = (WORD, r"\b\w[\w+.-]*\b")  # models of earlier versions say it in the second way
_JOINTS = "+.-"
_SPACES = {i: " " for i in range(128) if not (chr(i).isalnum() or chr(i) == "_" or chr(i) in _JOINTS)}
_RUNS = re.compile(r"[^\W\d_]+|\d+")
_CHARACTERS = 4  # in a run of them, which stands for a part of a word; with runs of 3 to 6 rows are three times as long


class Tokenizer:
    """What finds the words of a text, in their order.

    Parameters
    ----------
    pattern : a regular expression of one word; by default words of any script.
    lowercase : take A for a, and ß for ss.
    accents : "keep", or "strip" to take é for e.
    version : of the rules by which words are cut, see `VERSION`.

    Examples
    --------
    >>> Tokenizer()("Node.js für 中文")
    ['node.js', 'für', '中文', '中', '文']
    """

    def __init__(
        self, pattern: str = WORD, lowercase: bool = True, accents: str = "keep", version: int = VERSION
    ) -> None:
        if accents not in ("keep", "strip"):
            raise DataError(f"accents is {accents!r}; it must be keep or strip")
        if version not in range(1, VERSION + 1):
            raise DataError(f"the model cuts words by rules of version {version}; this program knows {VERSION}")
        self.pattern, self.lowercase, self.accents, self.version = pattern, lowercase, accents, version
        self._usual = pattern in _SAME_AS_WORD
        self._word = re.compile(pattern) if self._usual else checked_pattern(pattern)

    def __call__(self, text: str) -> list[str]:
        if self._usual and text.isascii():
            # Three passes in C take a third of the time of the regular expression.
            text = text.lower() if self.lowercase else text
            return list(filter(None, map(str.strip, text.translate(_SPACES).split(), repeat(_JOINTS))))
        if not self._usual:
            words = [found for _, _, found in self._by_pattern(self._folded(text))]
        elif (careful := self._careful(text)) is None:
            words = self._word.findall(self._folded(text))
        else:
            words = [word for run in careful.findall(text) for word in words_of_run(self._folded(run))]
        return list(map(without_accents, words)) if self.accents == "strip" else words

    def spans(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Where each word begins and ends in the text, and how it is read; no pairs of characters."""
        if not self._usual:
            # Not looked for in the folded text: it may have another length.
            found: Iterable[tuple[int, int, str]] = self._by_pattern(text)
        elif (careful := self._careful(text)) is None:
            found = ((run.start(), run.end(), run.group()) for run in self._word.finditer(text))
        else:
            found = (span for run in careful.finditer(text) for span in spans_of_run(run.group(), run.start()))
        for begin, end, word in found:
            word = self._folded(word)
            if self._usual and self.version > 1 and not word.isascii():
                word = composed(word)
            if word:  # not a soft hyphen alone
                yield begin, end, without_accents(word) if self.accents == "strip" else word

    def _careful(self, text: str) -> re.Pattern[str] | None:
        return None if self.version < 2 else careful_word(text)

    def _folded(self, text: str) -> str:
        if not self.lowercase:
            return text
        return text.lower() if self.version < 2 else text.casefold()

    def _by_pattern(self, text: str) -> Iterator[tuple[int, int, str]]:
        group = min(1, self._word.groups)
        for begin, end in _stretches(text):
            for found in self._word.finditer(text, begin, end):
                if found.group(group):
                    yield found.start(group), found.end(group), found.group(group)


def _stretches(text: str) -> Iterator[tuple[int, int]]:
    """The text in stretches that a user's pattern reads at once, ended by a blank where there is one."""
    begin = 0
    while len(text) - begin > READ_AT_ONCE:
        blank = max(text.rfind(" ", begin, begin + READ_AT_ONCE), text.rfind("\n", begin, begin + READ_AT_ONCE))
        end = blank + 1 if blank > begin else begin + READ_AT_ONCE
        yield begin, end
        begin = end
    yield begin, len(text)


def pieces(words: Iterable[str]) -> list[str]:
    """What compounds among the words are made of, runs of letters and of digits: of libgmp3-dev, libgmp, 3 and dev."""
    return [run for word in words if not word.isalpha() for run in _runs(word)]


@lru_cache(maxsize=2**16)
def _runs(word: str) -> tuple[str, ...]:
    found = tuple(_RUNS.findall(word))
    return found if len(found) > 1 else ()


def characters(words: Iterable[str]) -> list[str]:
    """Runs of 4 characters of each word, with its ends marked: they find Haus in Rathauses."""
    return [run for word in words for run in _characters_of(word)]


@lru_cache(maxsize=2**17)
def _characters_of(word: str) -> tuple[str, ...]:
    marked = f"<{word}>"
    return tuple(marked[i : i + _CHARACTERS] for i in range(len(marked) - _CHARACTERS + 1))
