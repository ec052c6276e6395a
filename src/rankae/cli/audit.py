"""`rankae audit`: labels that are probably wrong or missing; `rankae audit apply`: data corrected by decisions."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from rankae.cli.options import Data, Json, Quiet, Threads, be_quiet, use_threads
from rankae.cli.outputs import check_outputs
from rankae.cli.reading_options import ReadingOptions, reading_options
from rankae.cli.set_option import parse_settings
from rankae.errors import RankaeError
from rankae.report.terminal import print_table, say

if TYPE_CHECKING:
    from rankae.audit import AuditReport, AuditSettings
    from rankae.base.ranker import LabelRanker
    from rankae.data import Dataset

_APPLY, _AUDIT = "apply", "data"


class _AuditByDefault(TyperGroup):
    """`rankae audit DATA` needs no name of a subcommand."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, args if args[:1] == [_APPLY] else [_AUDIT, *args])


class _NamedLikeItsGroup(TyperCommand):
    """Usage and messages say `rankae audit`, as users type it."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        if parent is None:  # documentation asks for its help
            return super().make_context(info_name, args, **extra)
        return super().make_context(parent.info_name, args, parent=parent.parent, **extra)


app = typer.Typer(cls=_AuditByDefault, rich_markup_mode=None, add_completion=False)
Split = Annotated[str, typer.Option(help="Which split of a folder.")]


@app.command(_AUDIT, cls=_NamedLikeItsGroup, hidden=True)
@reading_options(data_format=True)
def audit(
    data: Data,
    out: Annotated[Path, typer.Option("-o", "--out", help="Where the flags go; OUT.summary.json has the rest.")],
    model: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="A model: folds are trained like it, or it judges rows that it has not seen."),
    ] = None,
    top: Annotated[int, typer.Option(min=1, max=1_000_000, help="Flags of each kind.")] = 1000,
    html: Annotated[Path | None, typer.Option(help="Write a page to look through.")] = None,
    format: Annotated[str | None, typer.Option(help="jsonl, csv or label-studio; else OUT's ending tells.")] = None,
    folds: Annotated[int, typer.Option(min=2, max=20, help="Models to train.")] = 5,
    method: Annotated[str, typer.Option(help="Of the folds' models.")] = "rank-ae",
    set: Annotated[list[str] | None, typer.Option(metavar="KEY=VALUE", help="A parameter of it.")] = None,
    split: Split = "train",
    seed: Annotated[int, typer.Option(min=0)] = 0,
    quiet: Quiet = False,
    json: Json = False,
    threads: Threads = None,
    *,
    options: ReadingOptions,
) -> None:
    """Rank labels that are probably missing or wrong, by models that have not seen the rows' labels.

    Goes on where it was stopped (OUT.checkpoint). `rankae audit apply OUT DATA -o CLEANED` writes a corrected data set
    from the flags that somebody has accepted.
    """
    use_threads(threads)
    be_quiet(quiet)
    from rankae.audit import audit as run
    from rankae.audit.formats import format_of_flags, write_flags
    from rankae.audit.page import audit_page
    from rankae.data import load_dataset
    from rankae.data.writing import written

    flag_format = format_of_flags(out, format)
    summary = out.parent / f"{out.stem}.summary.json"
    check_outputs([out, summary, html], data)
    ranker = None
    if model is not None:
        from rankae.methods import load

        ranker = load(model)
    reading = None if ranker is None else ranker.reading_
    rows = load_dataset(data, split, reading=reading, **options)
    settings, judge, rows = _settings(ranker, rows, method, parse_settings(set or []), folds, top, seed, out)
    report = run(rows, settings=settings, model=judge)
    write_flags(out, report, flag_format)
    with written(summary) as stream:
        stream.write(json_module.dumps(report.summary(), indent=1, ensure_ascii=False).encode("utf-8", "replace"))
    if html is not None:
        with written(html) as stream:
            stream.write(audit_page(report).encode("utf-8", "replace"))
    if json:
        typer.echo(json_module.dumps({"out": str(out)} | report.summary()))
        return
    _tell(report, out, html)


def _settings(
    ranker: LabelRanker | None,
    rows: Dataset,
    method: str,
    parameters: dict[str, Any],
    folds: int,
    top: int,
    seed: int,
    out: Path,
) -> tuple[AuditSettings, LabelRanker | None, Dataset]:
    """The settings of the audit, the model that scores the rows if it has not seen them, and the rows in its
    columns."""
    from rankae.audit import AuditSettings
    from rankae.audit.audit import same_model
    from rankae.cli.measuring import matched
    from rankae.data.fingerprint import fingerprint

    if ranker is None:
        settings = {"preset": "fast"} | parameters if method == "rank-ae" else parameters
        checkpoint = out.with_name(f"{out.name}.checkpoint")
        return AuditSettings(folds, top, method, settings, seed, checkpoint), None, rows
    aligned = matched(ranker, rows)
    unknown = aligned.n_labels - len(ranker.classes_)
    if unknown:
        names = aligned.label_names or [str(i) for i in range(aligned.n_labels)]
        raise RankaeError(
            f"{rows.name}: the model does not know {unknown:,} of its labels, such as {names[len(ranker.classes_)]!r}; "
            "audit with a model of this label set, or without --model"
        )
    if fingerprint(rows) != getattr(ranker, "facts_", {}).get("fingerprint"):
        return AuditSettings(folds, top, seed=seed), ranker, aligned
    checkpoint = out.with_name(f"{out.name}.checkpoint")
    same = same_model(ranker) | parameters
    return AuditSettings(folds, top, ranker.method, same, seed, checkpoint), None, rows


def _tell(report: AuditReport, out: Path, page: Path | None) -> None:
    noise = report.noise
    for name, rate, of in (("missing", noise.missing, "right"), ("wrong", noise.wrong, "recorded")):
        say(f"{name}: {rate.value:.1%} of the {of} labels ({rate.low:.1%} to {rate.high:.1%}), at most")
    for kind in ("missing", "wrong"):
        best = [flag for flag in report.flags if flag.kind == kind][:10]
        cells = [[f"{f.probability:.3f}", str(f.id), f.label, " ".join(f.words[:4])] for f in best]
        print_table(f"probably {kind}", ["p", "row", "label", "words"], cells, left=(1, 2, 3))
    others = {
        "conflicts": "pairs of alike rows with different labels",
        "relations": "pairs of related labels",
        "unpredictable": "unpredictable labels",
    }
    counts = ", ".join(f"{len(getattr(report, name))} {text}" for name, text in others.items())
    say(f"{counts}: in {out.stem}.summary.json")
    say(f"{out}: {len(report.flags):,} flags; write accept or reject as their decision, then `rankae audit apply`")
    if page is not None:
        say(f"{page}: the same to look through and to decide in a browser")


@app.command(_APPLY)
@reading_options(data_format=True)
def apply(
    decisions: Annotated[Path, typer.Argument(metavar="OUT", help="The flags, with a decision: accept or reject.")],
    data: Data,
    out: Annotated[Path, typer.Option("-o", "--out", metavar="CLEANED", help="A file, or a folder for all splits.")],
    accept: Annotated[
        float | None, typer.Option(min=0, max=1, help="Accept undecided flags that are at least this probable.")
    ] = None,
    split: Split = "train",
    quiet: Quiet = False,
    json: Json = False,
    *,
    options: ReadingOptions,
) -> None:
    """Write a corrected copy of DATA: accepted missing labels are added, accepted wrong ones removed."""
    be_quiet(quiet)
    from rankae.audit.decisions import apply_decisions
    from rankae.audit.formats import read_decisions
    from rankae.data import load_dataset, splits_of
    from rankae.data.sources import find_source

    place = find_source(data)
    if out.resolve() == place.resolve() or out.resolve().parent == place.resolve():
        raise RankaeError(f"{out} is the input or stands in it; choose another place for the corrected data")
    if out.resolve() == decisions.resolve():
        raise RankaeError(f"{out} holds the decisions; choose another place for the corrected data")
    decided = read_decisions(decisions, accept)
    if not decided:
        raise RankaeError(f"{decisions}: no flag has been decided; write accept or reject, or give --accept 0.95")
    applied = apply_decisions(load_dataset(data, split, **options), decided)
    options.pop("format", None)  # that of the split which the flags are of
    others = {s: load_dataset(data, s, **options) for s in splits_of(data) if s != split} if place.is_dir() else {}
    _write_cleaned(out, {split: applied.data, **others})
    counts = {n: getattr(applied, n) for n in ("added", "removed", "rejected", "known")}
    if json:
        typer.echo(json_module.dumps({"out": str(out)} | counts))
        return
    say(
        f"{out}: {applied.added} labels added, {applied.removed} removed, {applied.rejected} flags rejected, "
        f"{applied.known} as decided already"
    )


def _write_cleaned(out: Path, splits: dict[str, Dataset]) -> None:
    """A file of the first split; or a folder of all, with names beside features."""
    from rankae.data.opening import without_compression
    from rankae.data.writing import write_dataset, write_names

    if Path(without_compression(out.name)).suffix:
        write_dataset(next(iter(splits.values())), out)
        return
    for name, rows in splits.items():
        write_dataset(rows, out / f"{name}.{'jsonl' if rows.texts is not None else 'txt'}")
        if rows.texts is None and rows.label_names is not None:
            write_names(rows.label_names, out / "labels.txt")
        if rows.texts is None and rows.feature_names is not None:
            write_names(rows.feature_names, out / "vocab.txt")
