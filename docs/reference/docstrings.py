"""griffe extension: reads the docstrings of this project, which say `name : what it is` and leave types to annotations.

numpydoc would take what stands behind the colon for a type. A list of names without a heading becomes a section.
"""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

_NAMES = r"[A-Za-z_]\w*(?:,\s+[A-Za-z_]\w*)*"
_ENTRY = re.compile(rf"^({_NAMES}) : (?=\S)", re.MULTILINE)
_SECTION = re.compile(r"^(?:[A-Z][\w ]*)\n-{3,}$", re.MULTILINE)


class Docstrings(Extension):
    """Puts every description on a line of its own, below its names."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        if obj.docstring is not None:
            heading = "Parameters" if obj.is_function else "Attributes"
            obj.docstring.value = _as_numpydoc(obj.docstring.value, heading)


def _as_numpydoc(text: str, heading: str) -> str:
    text = _ENTRY.sub(lambda entry: f"{' '.join(entry[1].split())} : ", text)  # names over two lines are one entry
    section = _SECTION.search(text)
    start = len(text) if section is None else section.start()
    prose, entries = _parted(text[:start])
    listed = [heading, "-" * len(heading), *entries, ""] if entries else []
    whole = "\n".join([*prose, "", *listed]) + text[start:]
    return _ENTRY.sub(lambda entry: f"{entry[1]}\n    ", whole)


def _parted(text: str) -> tuple[list[str], list[str]]:
    """Lines of prose, and lines of entries with what is indented below them."""
    prose: list[str] = []
    entries: list[str] = []
    in_entry = False
    for line in text.splitlines():
        in_entry = bool(_ENTRY.match(line)) or (in_entry and line.startswith("    "))
        (entries if in_entry else prose).append(line)
    return prose, entries
