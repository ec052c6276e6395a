"""What README and the pages say must be so: commands and options exist, examples run."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from runpy import run_path

import pytest

from rankae.cli.lazy_group import COMMANDS, Unopened

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
COMMAND = re.compile(r"(?:^ {4}(?:\$ )?|`|\| )(rankae (?:[a-z]|--)[^`#|\n]*)", re.MULTILINE)


def _commands() -> list[tuple[str, str]]:
    texts = {page.name: re.sub(r" *\\\n +", " ", page.read_text()) for page in PAGES}  # commands over several lines
    return [(name, found.strip()) for name, text in texts.items() for found in COMMAND.findall(text)]


@pytest.mark.parametrize(("page", "command"), _commands())
def test_commands_and_their_options_exist(page, command):
    words = shlex.split(command)[1:]
    if words[0].startswith("--"):
        return
    opened = Unopened(words[0], *COMMANDS[words[0]]).open()
    inner = getattr(opened, "commands", {})
    if inner:  # a group; `audit` takes its data where others take a subcommand
        opened = inner[words[1]] if words[1:] and words[1] in inner else inner["data"]
    known = {name for parameter in opened.params for name in (*parameter.opts, *parameter.secondary_opts)}
    assert {word for word in words if re.match(r"--?[a-z]", word)} <= known


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for link in re.findall(r"\]\((?!http)([^)#]+)\)", page.read_text()):
        if "results/accuracy" not in link:  # written by the experiments, not by hand
            assert (page.parent / link).exists(), link


def test_the_first_example_prints_what_the_page_shows(tmp_path, monkeypatch, capsys):
    (example, shown), *_ = re.findall(r"```python\n(.*?)```\n\n((?:    [^\n]*\n)+)", PAGES[0].read_text(), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(compile(example, "README.md", "exec"), {})
    printed = capsys.readouterr().out
    number = r"\d+\.\d+"
    assert [re.sub(number, "", line).split() for line in printed.splitlines()] == [
        re.sub(number, "", line).split() for line in shown.splitlines()
    ]
    assert [float(p) for p in re.findall(number, printed)] == pytest.approx(
        [float(p) for p in re.findall(number, shown)], abs=0.05
    )


def test_examples_of_scikit_learn_run(capsys):
    for example in re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "scikit-learn.md").read_text(), re.DOTALL):
        exec(compile(example, "scikit-learn.md", "exec"), {})
    assert "[['red', 'drink']]" in capsys.readouterr().out


def test_the_page_of_commands_shows_the_options_of_each():
    page = run_path(str(ROOT / "docs" / "reference" / "hook.py"))["commands"]()
    audit = page.split("## rankae audit\n")[1].split("\n## ")[0]
    assert "--folds" in audit
    assert "rankae audit data" not in page
    assert "## rankae audit apply\n" in page
