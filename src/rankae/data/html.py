"""Converts HTML to plain text: removes tags, comments, scripts and style sheets, and decodes entities."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import unescape

# A tag cannot contain "<", so every match ends at the next one and the search is linear in the length of the text.
_TAG = re.compile(r"</?([a-zA-Z][a-zA-Z0-9]*)(?:[\s/][^<>]*)?>|<![a-zA-Z][^<>]*>|<\?[^<>]*>")
_USUAL = re.compile(
    r"</?(?:html|head|body|p|div|span|a|br|hr|ul|ol|li|b|i|u|em|strong|h[1-6]|table|t[rdh]|img|font|blockquote|pre|code)"
    r"(?:\s[^<>]*)?/?>",
    re.IGNORECASE,
)
_INSIDE_WORDS = frozenset(
    ("b", "i", "u", "s", "em", "strong", "span", "font", "small", "big", "mark", "sub", "sup", "abbr", "wbr")
)
_IN_A_LINE = frozenset(
    ("a", "img", "code", "kbd", "tt", "q", "cite", "label", "input", "button", "time", "var", "samp")
)
_NOT_TEXT = re.compile(r"<!--|<(?:script|style)\b", re.IGNORECASE)
_ENDS = {"<!--": "-->", "<script": "</script", "<style": "</style"}
_LOOKED_AT = 2000
_SHARE = 0.2  # of texts with two or more tags, from which tags are treated as markup


def strip_html(text: str) -> str:
    """The text of a page, a line for each block.

    >>> strip_html("<h1>Fish &amp; chips</h1><p>A <b>d</b>ish of <a href='x'>England</a></p>")
    'Fish & chips\\nA dish of  England'
    """
    if "<" in text:
        text = _TAG.sub(_gap, _only_text(text))
    text = unescape(text) if "&" in text else text
    return "\n".join(filter(None, map(str.strip, text.splitlines())))


def share_of_html(texts: Sequence[str]) -> float:
    """The share of texts with two or more common tags; of many texts, an evenly spaced sample is used."""
    looked_at = texts[:: max(1, len(texts) // _LOOKED_AT)]
    tagged = sum(isinstance(text, str) and "<" in text and len(_USUAL.findall(text)) > 1 for text in looked_at)
    return tagged / max(1, len(looked_at))


def is_html(share: float) -> bool:
    return share >= _SHARE


def _gap(tag: re.Match[str]) -> str:
    name = (tag.group(1) or "").lower()
    return "" if name in _INSIDE_WORDS else " " if name in _IN_A_LINE else "\n"


def _only_text(text: str) -> str:
    """Without comments, scripts and style sheets, up to the end of the text where one is not closed."""
    kept, at = [], 0
    lower = text.lower()
    while (begin := _NOT_TEXT.search(text, at)) is not None:
        kept.append(text[at : begin.start()])
        end = _ENDS[begin.group().lower()]
        close = lower.find(end, begin.end())
        if close < 0:
            return "".join(kept)
        at = text.find(">", close) + 1
        if at == 0:
            return "".join(kept)
    kept.append(text[at:])
    return "\n".join(kept)
