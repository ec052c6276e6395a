"""Groups of options that several commands share: a command gets the group as one dictionary.

Typer reads a command's signature, so the decorator rewrites it: the group's options replace the one parameter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from inspect import Parameter, signature
from typing import Any, TypeAlias

Command: TypeAlias = Callable[..., None]


def grouped(
    parameter: str, group: Mapping[str, tuple[Any, Any]], collect: Callable[[dict[str, Any]], dict[str, Any]] = dict
) -> Callable[[Command], Command]:
    """Decorator of a command that takes a group of options as a dictionary.

    Parameters
    ----------
    parameter : the command's keyword parameter for the dictionary.
    group : each option's type, with typer's annotation, and its default.
    collect : makes the dictionary from the values of all options.
    """

    def decorated(command: Command) -> Command:
        original = signature(command, eval_str=True)
        options = [Parameter(name, Parameter.KEYWORD_ONLY, annotation=a, default=d) for name, (a, d) in group.items()]
        shown: list[Parameter] = []
        for option in original.parameters.values():
            shown += options if option.name == parameter else [option]

        @wraps(command)
        def called(**values: Any) -> None:
            collected = collect({name: values.pop(name) for name in group})
            command(**values, **{parameter: collected})

        del called.__wrapped__  # type: ignore[attr-defined]
        called.__signature__ = original.replace(parameters=shown)  # type: ignore[attr-defined]
        called.__annotations__ = {option.name: option.annotation for option in shown}
        return called

    return decorated
