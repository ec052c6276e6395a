"""`rankae desk`: what people decided at the desk, as training data, as figures, and from several desks as one."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rankae.cli.options import Json
from rankae.errors import RankaeError

if TYPE_CHECKING:
    from rankae.serve.store import Store

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Export, count and merge decisions of the desk.")

Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="The desk's folder (`rankae serve --desk`).")]
_MOST_SHOWN = 20  # labels of the table


def _open(folder: Path) -> Store:
    from rankae.serve.store import Store

    return Store(folder, create=False)


@app.command()
def export(
    folder: Folder,
    out: Annotated[Path | None, typer.Option("-o", "--out", help="A .jsonl or .csv file; by default stdout.")] = None,
    unfinished: Annotated[bool, typer.Option("--unfinished", help="Also texts that nobody has finished.")] = False,
    flags: Annotated[bool, typer.Option("--flags", help="Reviewed flags, for `rankae audit apply`.")] = False,
    conflicts: Annotated[bool, typer.Option("--conflicts", help="What people disagree on, all verdicts.")] = False,
) -> None:
    """The last word on each text: a data set that `rankae train` and `rankae update` read."""
    from rankae.data.writing import written
    from rankae.serve.exports import conflict_lines, flag_lines, training_lines

    ending = "" if out is None else out.suffix.lower()
    if ending not in ("", ".jsonl", ".csv"):
        raise RankaeError(f"{out}: decisions are written as .jsonl or .csv")
    if flags and conflicts:
        raise RankaeError("--flags and --conflicts are two exports; give one of them at a time")
    if ending == ".csv" and (flags or conflicts):
        raise RankaeError(f"{out}: flags and conflicts are written as .jsonl")
    store = _open(folder)
    if conflicts:
        lines = conflict_lines(store)
    elif flags:
        lines = flag_lines(store)
    else:
        lines = training_lines(store, ending.lstrip(".") or "jsonl", done=not unfinished)
    if out is None:
        for line in lines:
            typer.echo(line, nl=False)
        return
    with written(out) as stream:
        stream.writelines(lines)


@app.command()
def stats(folder: Folder, json: Json = False) -> None:
    """How much was done, by whom, how often the model was right, and on what people disagree."""
    from rankae.serve.statistics import statistics

    figures = statistics(_open(folder))
    if json:
        typer.echo(json_module.dumps(figures))
        return
    typer.echo(f"{figures['texts']:,} texts, {figures['decisions']:,} decisions, {figures['conflicts']:,} conflicts")
    typer.echo(f"tags: {figures['accepted']:,} accepted, {figures['rejected']:,} rejected, {figures['added']:,} added")
    if figures["precision"] is not None:
        typer.echo(f"of the judged tags {figures['precision']:.1f} % were right")
    for name, count in figures["by"].items():
        typer.echo(f"  {name or '(no name)'}: {count:,}")
    if figures["labels"]:
        typer.echo(f"{'accepted':>8} {'rejected':>8} {'added':>8}  label")
        for one in figures["labels"][:_MOST_SHOWN]:
            typer.echo(f"{one['accepted']:>8} {one['rejected']:>8} {one['added']:>8}  {one['label']}")


@app.command()
def merge(
    folder: Folder,
    others: Annotated[list[Path], typer.Argument(metavar="OTHER...", help="Desk folders whose decisions are added.")],
    json: Json = False,
) -> None:
    """Add the decisions of other desks; those that are there already are passed over, so it can be repeated."""
    from rankae.serve.store import Store

    sources = [_open(other) for other in others]
    target = Store(folder)
    added = 0
    for source in sources:
        added += sum(number > 0 for number in target.add(list(source.all())))
    conflicts = [verdicts[-1].text for verdicts in target.conflicts()]
    if json:
        typer.echo(json_module.dumps({"added": added, "conflicts": len(conflicts)}))
        return
    typer.echo(f"{folder}: {added:,} decisions added, {len(conflicts):,} texts on which people disagree")
    for text in conflicts[:_MOST_SHOWN]:
        typer.echo(f"  {' '.join(text.split())[:100]}")
    if conflicts:
        typer.echo(f"the later one wins; see them all with: rankae desk export {folder} --conflicts")
