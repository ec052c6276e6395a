"""Options that several commands share as a group: a command takes the group as one dictionary.

Typer reads a command's signature, so that the signature is what is rewritten: the options of the group stand in the
place of the one parameter.
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
    """Have a command take options as a dictionary.

    Parameters
    ----------
    parameter : the command's own parameter, which must be one by keyword.
    group : of each option its type, with typer's annotation, and its default.
    collect : what the dictionary is made of, from the values of all options.
    """

    def decorated(command: Command) -> Command:
        own = signature(command, eval_str=True)
        options = [Parameter(name, Parameter.KEYWORD_ONLY, annotation=a, default=d) for name, (a, d) in group.items()]
        shown: list[Parameter] = []
        for one in own.parameters.values():
            shown += options if one.name == parameter else [one]

        @wraps(command)
        def called(**values: Any) -> None:
            together = collect({name: values.pop(name) for name in group})
            command(**values, **{parameter: together})

        del called.__wrapped__  # type: ignore[attr-defined]
        called.__signature__ = own.replace(parameters=shown)  # type: ignore[attr-defined]
        called.__annotations__ = {one.name: one.annotation for one in shown}
        return called

    return decorated
