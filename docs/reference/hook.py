"""mkdocs hook: writes what every command's `--help` says into reference/commands.md."""

from __future__ import annotations

from typing import Any

MARK = "<!-- commands -->"


def on_page_markdown(markdown: str, **_: Any) -> str:
    return markdown.replace(MARK, commands()) if MARK in markdown else markdown


def commands() -> str:
    """A section for each command, and for each command of a group."""
    from rankae.cli.lazy_group import COMMANDS, Unopened

    sections = []
    for name, place in COMMANDS.items():
        opened = Unopened(name, *place).open()
        inner = getattr(opened, "commands", {})
        unnamed = next((found for found in inner.values() if found.hidden), opened)  # `rankae audit` runs a hidden one
        named = [(f"{name} {own}", found) for own, found in inner.items() if not found.hidden]
        for words, command in [(name, unnamed), *named]:
            context = command.make_context(words, [], resilient_parsing=True)
            text = command.get_help(context).replace("Usage: ", "Usage: rankae ", 1)
            sections.append(f"## rankae {words}\n\n```text\n{text}\n```")
    return "\n\n".join(sections)
