"""Automatic choices as data: the setting, its value, the reason, and the figures behind it.

Models store them (`choices_`, model.json), and `rankae train` and the reports print them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias, TypedDict

AS_SET = "as set"


class Choice(TypedDict):
    """One choice. `evidence` maps each value that was tried to its figure; it is empty if a rule decided."""

    setting: str
    value: Any
    reason: str
    evidence: dict[str, float]


Choices: TypeAlias = dict[str, Choice]


def choice(setting: str, value: Any, reason: str = "", evidence: Mapping[Any, float] | None = None) -> Choice:
    """A choice in JSON types, so that it is the same before and after saving.

    >>> describe(choice("ridge", 1.0, "best leave-one-out precision", {0.3: 61.24, 1.0: 62.0}))
    '1.0 (best leave-one-out precision; 0.3: 61.2, 1.0: 62.0)'
    """
    figures = {str(tried): round(float(figure), 4) for tried, figure in (evidence or {}).items()}
    plain = list(value) if isinstance(value, tuple) else value
    return {"setting": setting, "value": plain, "reason": reason, "evidence": figures}


def describe(one: Choice | str) -> str:
    """A choice in words; models of older files hold it as a line of text."""
    if isinstance(one, str):
        return one
    shown = ", ".join(f"{tried}: {figure:.1f}" for tried, figure in one["evidence"].items())
    why = "; ".join(filter(None, [one["reason"], shown]))
    value = tuple(one["value"]) if isinstance(one["value"], list) else one["value"]
    return f"{value} ({why})" if why else str(value)


def value_of(choices: Mapping[str, Choice | str], setting: str) -> Any:
    """The chosen value, or None if there was no choice; for older files, the text before the reason."""
    one = choices.get(setting)
    if isinstance(one, str):
        return one.split(" (")[0]
    return None if one is None else one["value"]
