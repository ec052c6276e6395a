"""Options of compare, noise and ablate, and their messages."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from rankae.cli.grouped import grouped
from rankae.cli.options import Cluster, Quiet, be_quiet
from rankae.cli.reading_options import ReadingOptions
from rankae.errors import RankaeError
from rankae.progress import is_quiet
from rankae.report.terminal import print_table, say

if TYPE_CHECKING:
    from rankae.experiments.plan import Running

DataSets = Annotated[list[str], typer.Argument(metavar="DATA...", help="Folders, files, or names of known data sets.")]
Out = Annotated[Path, typer.Option("--out", "-o", help="Folder for the report.")]
Seeds = Annotated[int, typer.Option(min=1, help="Seeds to average over.")]
TuneTrials = Annotated[
    int, typer.Option(min=0, help="Trials of a search for each method's parameters, on the same 20 % of the rows.")
]
Untuned = Annotated[str, typer.Option(help="Methods that run with their defaults all the same, for want of time.")]
Settings = Annotated[
    list[str] | None, typer.Option("--set", help="A parameter of one method, as METHOD.NAME=VALUE; may be repeated.")
]


RunningOptions: TypeAlias = dict[str, Any]
running_options = grouped(
    "running",
    {
        "jobs": (Annotated[int, typer.Option(min=1, help="Cells to run at the same time.")], 1),
        "cluster": (Cluster, None),
        "isolate": (
            Annotated[bool, typer.Option(help="Run each cell in a process of its own, so that a crash ends only it.")],
            True,
        ),
        "retry": (Annotated[bool, typer.Option(help="Run cells again that failed or could not run.")], False),
        "again": (Annotated[str | None, typer.Option(help="Methods whose finished cells to run anew.")], None),
        "cell_minutes": (Annotated[float | None, typer.Option(min=0, help="The most that one cell may take.")], None),
        "cells": (
            Annotated[
                Path | None,
                typer.Option(help="Folder of finished cells, which several reports may share; else OUT/cells."),
            ],
            None,
        ),
        "quiet": (Quiet, False),
        "report_only": (
            Annotated[
                bool,
                typer.Option("--report-only", help="Run nothing: report what is finished, with all seeds there are."),
            ],
            False,
        ),
    },
)


@contextmanager
def running_as(out: Path, options: RunningOptions, reading: ReadingOptions) -> Iterator[Running]:
    """How to run cells by the values of `running_options`; a cluster is connected within the block."""
    from rankae.cli.on_cluster import cell_runner
    from rankae.experiments.plan import Running

    be_quiet(options["quiet"])
    if out.exists() and not out.is_dir():
        raise RankaeError(f"{out} is a file; --out takes a folder")
    minutes, jobs, isolate = options["cell_minutes"], options["jobs"], options["isolate"]
    if minutes is not None and not isolate:
        raise RankaeError("--cell-minutes needs a process of its own for each cell: leave out --no-isolate")
    if jobs > 1 and not isolate:
        raise RankaeError("--jobs needs a process of its own for each cell: leave out --no-isolate")
    again = frozenset(names(options["again"] or ""))
    with cell_runner(options["cluster"]) as (remote, workers):
        yield Running(
            out,
            isolate,
            jobs if remote is None else max(jobs, workers),
            options["retry"],
            minutes,
            tell,
            options["cells"],
            options["report_only"],
            again,
            reading,
            remote,
        )


def tell(cell: Any, result: dict[str, Any]) -> None:
    """One line on stderr for each cell that was run."""
    if is_quiet():
        return
    if result["status"] != "done":
        outcome = f"{result['status']}: {result['reason']}"
    elif cell.trials:
        outcome = f"tuned to {result['validation']:.2f} with {result['parameters'] or 'the defaults'}"
    else:
        scores = " ".join(f"{name} {value:.2f}" for name, value in result["scores"].items() if name.startswith("P@"))
        outcome = f"{scores}, {result['train_seconds']:.1f} s"
    noise = f" {cell.noise[0]} {cell.noise[1]:g}" if cell.noise else ""
    parameters = ", ".join(f"{name}={value}" for name, value in cell.parameters.items())
    shown = f" ({parameters})" if parameters else ""
    typer.echo(f"{cell.data}{noise} {cell.method}{shown} seed {cell.seed}: {outcome}", err=True)


def names(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def rates(text: str) -> list[float]:
    """ "0,.2,.4" or "0,.1,...,.6" -> the rates; dots repeat the step before them."""
    values: list[float] = []
    dots = False
    try:
        for part in names(text):
            if part == "...":
                dots = True
                continue
            value = float(part)
            if dots:
                step = values[-1] - values[-2]
                count = round((value - values[-1]) / step)
                values += [round(values[-1] + step * i, 10) for i in range(1, count)]
                dots = False
            values.append(value)
    except (ValueError, IndexError, ZeroDivisionError):
        values = []
    if not values or dots:
        raise RankaeError(f"--rates is {text!r}; give shares such as 0,.2,.4 or 0,.1,...,.6")
    return values


def print_summary(summary: Any, out: Path, as_json: bool) -> None:
    """The main table on the terminal, or everything as JSON, with the path of the report."""
    import json

    from rankae.experiments.tables import reason_grid, terminal_grid

    if as_json:
        typer.echo(json.dumps(summary.to_dict() | {"report": str(out / "report.html")}))
        return
    scores, reasons = terminal_grid(summary), reason_grid(summary)
    print_table(scores.title, scores.head, scores.lines, left=(0, 1))
    if reasons.lines:
        print_table(reasons.title, reasons.head, reasons.lines, left=(0, 1, 2))
    say(f"{out / 'report.html'}")
