"""Checks that a regular expression for words, from a user or a model file, takes linear time on any text.

Python's `re` backtracks: a pattern that can match the same characters in many ways (`(a+)+b`, `\\w*\\w*!`) takes
minutes on a single line. A pattern is accepted if, inside every repetition, the next character alone determines how the
match continues.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from re import _constants as kinds  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import numpy as np

from rankae.errors import DataError

_LONGEST_PATTERN = 500
_MOST_POSITIONS = 150  # of characters in the pattern, counted repetitions written out
_MOST_STEPS = 5000  # of the check itself
_MOST_FORKS = 6  # ambiguities outside of repetitions, each of which may double the work
# Texts are matched in pieces of so many characters, because a long match may fail at its end from every start.
READ_AT_ONCE = 500
_CATEGORIES = {
    kinds.CATEGORY_WORD: r"\w", kinds.CATEGORY_NOT_WORD: r"\W", kinds.CATEGORY_DIGIT: r"\d",
    kinds.CATEGORY_NOT_DIGIT: r"\D", kinds.CATEGORY_SPACE: r"\s", kinds.CATEGORY_NOT_SPACE: r"\S",
}  # fmt: skip
_REPETITIONS = (kinds.MAX_REPEAT, kinds.MIN_REPEAT, kinds.POSSESSIVE_REPEAT)
_ALL = 0x110000


def checked_pattern(pattern: str) -> re.Pattern[str]:
    """The compiled pattern; refuses invalid patterns, and those that may be slow."""
    shown = f"token_pattern {pattern[:60]!r}{'...' if len(pattern) > 60 else ''}"
    if len(pattern) > _LONGEST_PATTERN:
        raise DataError(f"{shown} has {len(pattern)} characters; the most is {_LONGEST_PATTERN}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # of classes such as [[:alpha:]], which mean something else here
            compiled = re.compile(pattern)
            tree = parser.parse(pattern)
    except (re.error, RecursionError, OverflowError, Warning) as error:
        raise DataError(f"{shown} is not a regular expression: {error}") from None
    if compiled.flags & ~re.UNICODE:
        raise DataError(f"{shown} sets a flag; write the characters that you mean instead, texts are in lower case")
    if compiled.groups > 1:
        raise DataError(f"{shown} has {compiled.groups} groups; one at most can be the word, write (?:...) for others")
    positions = _Positions(shown)
    positions.check(positions.of(tree))
    return compiled


@dataclass(frozen=True)
class _Part:
    """A part of the pattern: its possible first and last positions, and whether it can match nothing."""

    first: frozenset[int]
    last: frozenset[int]
    empty: bool


_NOTHING = _Part(frozenset(), frozenset(), True)


class _Positions:
    """The Glushkov automaton of the pattern: a state for each position, its character set and its followers."""

    def __init__(self, shown: str) -> None:
        self.shown = shown
        self.characters: list[np.ndarray] = []
        self.follow: list[set[int]] = []
        self.overlaps: dict[tuple[int, int], bool] = {}
        self.steps = 0

    def of(self, tree: Any) -> _Part:
        part = _NOTHING
        self._step()
        for kind, argument in tree:
            part = self._then(part, self._one(kind, argument))
        return part

    def check(self, whole: _Part) -> None:
        """Refuse a pattern that is ambiguous inside a repetition, or at many places elsewhere."""
        forks = self._forks(whole.first)
        reached = [self._reached(state) for state in range(len(self.follow))]
        for state, following in enumerate(self.follow):
            open_ways = self._forks(following)
            if open_ways and state in reached[state]:
                raise DataError(
                    f"{self.shown} may take very long: inside a repetition the same character can be matched in two "
                    "ways; write it so that what follows a repetition begins with other characters than it holds"
                )
            forks += open_ways
        if forks > _MOST_FORKS:
            raise DataError(f"{self.shown} may take very long: there are {forks} places where two ways are open")

    def _one(self, kind: Any, argument: Any) -> _Part:
        if kind in (kinds.LITERAL, kinds.NOT_LITERAL, kinds.ANY, kinds.IN):
            return self._position(_characters(kind, argument))
        if kind is kinds.AT:
            return _NOTHING
        if kind is kinds.SUBPATTERN:
            return self.of(argument[-1])
        if kind is kinds.ATOMIC_GROUP:
            return self.of(argument)
        if kind is kinds.BRANCH:
            ways = [self.of(way) for way in argument[1]]
            first, last = (frozenset().union(*(getattr(way, end) for way in ways)) for end in ("first", "last"))
            return _Part(first, last, any(way.empty for way in ways))
        if kind in _REPETITIONS:
            return self._repeated(*argument)
        if kind in (kinds.ASSERT, kinds.ASSERT_NOT):
            if argument[1].getwidth()[1] > 20:
                raise DataError(f"{self.shown} looks ahead or behind by more than 20 characters")
            aside = _Positions(self.shown)
            aside.check(aside.of(argument[1]))
            return _NOTHING
        raise DataError(f"{self.shown} refers back to what it matched, which may take very long; leave that out")

    def _repeated(self, least: int, most: int, tree: Any) -> _Part:
        part = _NOTHING
        if least > _MOST_POSITIONS or (most is not kinds.MAXREPEAT and most > _MOST_POSITIONS):
            raise self._too_long()
        for _ in range(least):
            part = self._then(part, self.of(tree))
        if most is kinds.MAXREPEAT:
            loop = self.of(tree)
            for state in loop.last:
                self.follow[state] |= loop.first
            return self._then(part, _Part(loop.first, loop.last, True))
        optional = _NOTHING
        for _ in range(most - least):  # x{0,3} is (x(x(x)?)?)?
            joined = self._then(self.of(tree), optional)
            optional = _Part(joined.first, joined.last, True)
        return self._then(part, optional)

    def _then(self, part: _Part, after: _Part) -> _Part:
        for state in part.last:
            self.follow[state] |= after.first
        first = part.first | after.first if part.empty else part.first
        last = part.last | after.last if after.empty else after.last
        return _Part(first, last, part.empty and after.empty)

    def _position(self, characters: np.ndarray) -> _Part:
        if len(self.characters) >= _MOST_POSITIONS:
            raise self._too_long()
        self.characters.append(characters)
        self.follow.append(set())
        here = frozenset({len(self.characters) - 1})
        return _Part(here, here, False)

    def _forks(self, states: Any) -> int:
        """Number of pairs of these states whose character sets overlap."""
        return sum(map(self._overlap, combinations(sorted(states), 2)))

    def _overlap(self, pair: tuple[int, int]) -> bool:
        if pair not in self.overlaps:
            a, b = (self.characters[i] for i in pair)
            self.overlaps[pair] = a is b or bool((a & b).any())
        return self.overlaps[pair]

    def _step(self) -> None:
        self.steps += 1
        if self.steps > _MOST_STEPS:
            raise self._too_long()

    def _too_long(self) -> DataError:
        return DataError(
            f"{self.shown} is too long; with repetitions written out it may hold {_MOST_POSITIONS} characters"
        )

    def _reached(self, state: int) -> set[int]:
        reached: set[int] = set()
        ahead = list(self.follow[state])
        while ahead:
            at = ahead.pop()
            if at not in reached:
                reached.add(at)
                ahead.extend(self.follow[at])
        return reached


def _characters(kind: Any, argument: Any) -> np.ndarray:
    """The set of characters that it matches, as a bitmap."""
    if kind is kinds.IN:
        return _of_class(tuple(argument))
    return _of_class(((kind, argument),))


@lru_cache(maxsize=256)
def _of_class(items: tuple[tuple[Any, Any], ...]) -> np.ndarray:
    matched = np.zeros(_ALL, dtype=bool)
    negated = False
    for kind, value in items:
        if kind is kinds.NEGATE:
            negated = True
        elif kind is kinds.LITERAL:
            matched[value] = True
        elif kind is kinds.NOT_LITERAL:
            matched[:] = True
            matched[value] = False
        elif kind is kinds.RANGE:
            matched[value[0] : value[1] + 1] = True
        elif kind is kinds.CATEGORY:
            name = _CATEGORIES[value]
            matched |= _of_category(name.lower()) ^ name[1].isupper()
        else:  # any character
            matched[:] = True
    return np.packbits(~matched if negated else matched)


@lru_cache(maxsize=3)
def _of_category(name: str) -> np.ndarray:
    matched = np.zeros(_ALL, dtype=bool)
    matched[[match.start() for match in re.finditer(name, "".join(map(chr, range(_ALL))))]] = True
    return matched
