"""Tables of text cells, and their Markdown and LaTeX."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Grid:
    """A table of text cells.

    bold : (line, column) of the bold cells.
    names : number of leading columns that hold names, not figures.
    """

    title: str
    head: list[str]
    lines: list[list[str]]
    bold: set[tuple[int, int]]
    names: int = 2


def to_markdown(title: str, tables: Sequence[Grid], note: str) -> str:
    parts = [f"# {title}", note]
    for grid in tables:
        cells = _decorated(grid, lambda text: f"**{text}**", lambda text: text.replace("|", "\\|").replace("\n", " "))
        lines = [grid.head, ["---"] * len(grid.head), *cells]
        parts.append(f"## {grid.title}\n\n" + "\n".join(f"| {' | '.join(line)} |" for line in lines))
    return "\n\n".join(parts) + "\n"


def to_latex(tables: Sequence[Grid]) -> str:
    """The score tables, set as in the paper; needs no package."""
    parts = []
    for grid in tables:
        cells = list(_decorated(grid, lambda text: f"\\textbf{{{text}}}", _latex))
        body = []
        for i, line in enumerate(cells):
            repeats = i > 0 and grid.lines[i - 1][0] == grid.lines[i][0]
            rule = "" if repeats or i == 0 else "\\hline\n"
            body.append(rule + " & ".join(["" if repeats else line[0], *line[1:]]))
        head = " & ".join(f"\\textbf{{{_latex(name)}}}" for name in grid.head)
        layout = "l" * 2 + "c" * (len(grid.head) - 2)
        lines = " \\\\\n".join([head + " \\\\\n\\hline\n" + body[0], *body[1:]])
        parts.append(
            f"\\begin{{table*}}\n\\centering\n\\begin{{tabular}}{{{layout}}}\n\\hline\n{lines} \\\\\n\\hline\n"
            f"\\end{{tabular}}\n\\caption{{{_latex(grid.title)}}}\n\\end{{table*}}\n"
        )
    return "\n".join(parts)


def _decorated(grid: Grid, bold: Callable[[str], str], safe: Callable[[str], str]) -> Iterator[list[str]]:
    for i, line in enumerate(grid.lines):
        yield [bold(safe(text)) if (i, j) in grid.bold else safe(text) for j, text in enumerate(line)]


def _latex(text: str) -> str:
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    special |= {c: f"\\{c}" for c in "&%$#_{}"} | {"±": r"$\pm$", "†": r"$^\dagger$"}
    return "".join(special.get(c, c) for c in text)
