"""What commands say on the terminal: sentences and tables, or nothing with --quiet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rankae.progress import is_quiet


def say(sentence: str) -> None:
    """Print a line for a person to read."""
    if not is_quiet():
        print(sentence, flush=True)


def print_table(
    title: str, columns: Sequence[str], cells: Sequence[Sequence[str]], left: Sequence[int] = (0,), narrow: bool = False
) -> None:
    """Print a table; columns are aligned right, except those with numbers in `left`.

    narrow : without lines between columns, so that ten columns of figures fit into 80 characters.
    """
    if is_quiet():
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    look: dict[str, Any] = {"box": box.SIMPLE, "padding": 0} if narrow else {}
    table = Table(title=title, title_justify="left", **look)
    for i, column in enumerate(columns):
        table.add_column(column, justify="left" if i in left else "right")
    for row in cells:
        table.add_row(*(Text(cell) for cell in row))  # Text: brackets in a label's name are no markup
    Console().print(table)


def print_measures(title: str, measures: Mapping[str, Mapping[str, Any]], places: Sequence[int]) -> None:
    """P@k, nDCG@k and PSP@k of one or more models, a line each, as the paper's tables have them."""
    columns = [f"{name}@{k}" for name in ("P", "nDCG", "PSP") for k in places]
    columns = [column for column in columns if any(column in figures for figures in measures.values())]
    cells = [
        [model, *(f"{figures[column]:.2f}" if column in figures else "-" for column in columns)]
        for model, figures in measures.items()
    ]
    print_table(title, ["", *columns], cells, narrow=True)
