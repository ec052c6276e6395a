"""Parses values from the command line: 5, .5, true, (1, 2), or any other text as it is."""

from __future__ import annotations

import ast
from typing import Any

_WORDS = {"true": True, "false": False, "none": None, "null": None}


def literal(text: str) -> Any:
    """The value of a Python literal, or the text itself if it is none.

    >>> [literal(text) for text in ("5", ".5", "True", "null", "(1, 2)", "bce")]
    [5, 0.5, True, None, (1, 2), 'bce']
    """
    text = text.strip()
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return text
