"""What README and the pages say must be so: commands and options exist, examples run."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from rankae.cli.lazy_group import COMMANDS, Unopened

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    *(ROOT / "docs" / f"{name}.md" for name in ("getting-started", "your-own-data", "prediction")),
]
COMMAND = re.compile(r"(?:^ {4}(?:\$ )?|`|\| )(rankae (?:[a-z]|--)[^`#|\n]*)", re.MULTILINE)


def _commands() -> list[tuple[str, str]]:
    return [(page.name, found.strip()) for page in PAGES for found in COMMAND.findall(page.read_text())]


@pytest.mark.parametrize(("page", "command"), _commands())
def test_commands_and_their_options_exist(page, command):
    words = shlex.split(command)[1:]
    if words[0].startswith("--"):
        return
    opened = Unopened(words[0], *COMMANDS[words[0]]).open()
    if words[0] == "data" and len(words) > 1:
        opened = opened.commands[words[1]]
    known = {name for parameter in opened.params for name in (*parameter.opts, *parameter.secondary_opts)}
    assert {word for word in words if re.match(r"--?[a-z]", word)} <= known


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for link in re.findall(r"\]\((?!http)([^)#]+)\)", page.read_text()):
        if "results/accuracy" not in link:  # written by the experiments, not by hand
            assert (page.parent / link).exists(), link


def test_the_first_example_runs(tmp_path, monkeypatch, capsys):
    (example,) = re.findall(r"```python\n(.*?)```", PAGES[0].read_text(), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(compile(example, "README.md", "exec"), {})
    assert capsys.readouterr().out == "[['fruit']]\n"
