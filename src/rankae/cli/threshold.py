"""`rankae threshold`: chooses a cut on held-out rows and stores it in the model's folder."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankae.cli.options import Data, Json, Model, Quiet, Threads, be_quiet, use_threads
from rankae.cli.outputs import check_outputs
from rankae.cli.reading_options import ReadingOptions, reading_options
from rankae.errors import RankaeError
from rankae.report.terminal import print_table, say

if TYPE_CHECKING:
    from rankae.base.held_out import HeldOut
    from rankae.base.ranker import LabelRanker


@reading_options("id_column")
def threshold(
    model: Model,
    data: Data,
    aim: Annotated[str, typer.Option(help="f1, precision=0.9, recall=0.8 (with a guarantee), or count.")] = "f1",
    split: Annotated[
        str | None,
        typer.Option(help="Rows to choose on; by default dev, or what training held out."),
    ] = None,
    per_label: Annotated[
        bool | None,
        typer.Option("--per-label/--global", help="A cut for each label with enough rows; by default if it helps F1."),
    ] = None,
    report: Annotated[Path | None, typer.Option("--report", "--html", help="Write the curve as a page.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print; leave the model as it is.")] = False,
    quiet: Quiet = False,
    json: Json = False,
    threads: Threads = None,
    *,
    options: ReadingOptions,
) -> None:
    """Choose a cut for an aim, print precision, recall and coverage at every cut, and keep it in the model.

    DATA is the training data (then the rows that training held out are used), or rows that the model has not seen.
    """
    use_threads(threads)
    be_quiet(quiet)
    from rankae.base.choose_cuts import Aim, choose_cuts, curve
    from rankae.methods import load

    target = Aim.parse(aim)
    check_outputs([report], data)
    ranker = load(model)
    held_out, source = _held_out_rows(ranker, data, split, options)
    probabilities = ranker.probabilities(held_out.columns, held_out.scores)
    cuts = choose_cuts(held_out, probabilities, target, per_label)
    if cuts.figures["rows"] < len(held_out):
        source += f"; the {cuts.figures['rows']} without a near-duplicate count"
    cuts.figures["source"] = source
    points = curve(held_out, probabilities, cuts)
    ranker.cuts_ = cuts
    if not dry_run:
        _save_again(ranker, model)
    if report is not None:
        _write_page(report, points, str(target), source)
    if json:
        result = {"model": str(model), "aim": cuts.aim, "cut": cuts.overall} | cuts.figures | {"curve": points}
        typer.echo(json_module.dumps(result))
        return
    _print(cuts.overall, cuts.figures, points, str(target), None if dry_run else model)


def _held_out_rows(ranker: LabelRanker, source: str, split: str | None, options: ReadingOptions) -> tuple[HeldOut, str]:
    """Predictions for held-out rows, and a description of these rows.

    A model without calibration is calibrated on the first half of the rows; the cut is then chosen on the second half.
    """
    from rankae.base.calibration import FEWEST_ROWS
    from rankae.cli.measuring import matched
    from rankae.data import load_dataset
    from rankae.data.fingerprint import fingerprint
    from rankae.data.sources import splits_of

    splits = splits_of(source)
    if split is None:
        split = "dev" if "dev" in splits else "train"
    rows = load_dataset(source, split, reading=ranker.reading_, **options)
    if not rows.labels.nnz:
        raise RankaeError(f"{rows.name}: the rows carry no labels, so no cut can be chosen on them")
    if fingerprint(rows) == getattr(ranker, "facts_", {}).get("fingerprint"):
        if ranker.held_out_ is None:
            raise RankaeError(
                f"{rows.name}: the model has learnt from these rows and kept none apart; choose the cut on others "
                "(--split, or another file)"
            )
        return ranker.held_out_, f"{len(ranker.held_out_)} rows that training held out"
    aligned = matched(ranker, rows)
    if len(aligned) < FEWEST_ROWS:
        raise RankaeError(
            f"{rows.name}: {len(aligned)} rows are too few to choose a cut on; give at least {FEWEST_ROWS}"
        )
    if ranker.calibration_ is not None:
        return ranker.predictions_for(aligned.rows, aligned.labels), f"{len(aligned)} rows of {rows.name} ({split})"
    half = len(aligned) // 2
    labels = aligned.labels[:half, : len(ranker.classes_)]
    ranker.calibrate(aligned.take(slice(0, half)).rows, labels)
    rest = aligned.take(slice(half, None))
    where = f"{len(rest)} rows of {rows.name} ({split}); the first {half} calibrated the model"
    return ranker.predictions_for(rest.rows, rest.labels), where


def _save_again(ranker: LabelRanker, place: Path) -> None:
    """Write the model with its cut, keeping its facts and the other files in its folder."""
    from rankae.data.writing import written
    from rankae.model_file import read_model

    facts = read_model(place).facts
    others = {path.name: path.read_bytes() for path in place.iterdir() if path.suffix == ".jsonl"}
    ranker.save(place, **facts)
    for name, content in others.items():
        with written(place / name) as stream:
            stream.write(content)


def _print(cut: float, figures: dict[str, Any], points: list[dict[str, float]], aim: str, place: Path | None) -> None:
    names = ["precision", "recall", "micro-F1", "coverage", "labels_per_row"]
    cells = []
    for point in points:
        mark = ">" if abs(point["cut"] - cut) < 1e-6 else ""
        cells.append([mark, f"{point['cut']:.4f}", *(f"{point[name]:.2f}" for name in names)])
    print_table(f"{figures['source']}", ["", "cut", *names], cells)
    label_cuts = figures["labels_with_own_cut"]
    by = (
        f"{label_cuts:,} labels with cuts of their own, {cut:.4f} for the others"
        if label_cuts
        else f"probability {cut:.4f}"
    )
    shown = ", ".join(f"{name} {figures[name]:.2f}" for name in names)
    if "recall_of_rows" in figures:  # the recall that the aim is about, averaged over rows
        shown += f"; of the labels of a row {figures['recall_of_rows']:.2f} % on average"
    say(f"{aim}: {by}; {shown}")
    if "guarantee" in figures:
        say(figures["guarantee"])
    say(f"kept in {place}: predict and serve use it" if place else "nothing was written")


def _write_page(path: Path, points: list[dict[str, float]], aim: str, source: str) -> None:
    from rankae.data.writing import written
    from rankae.report.grids import Grid
    from rankae.report.page import html_note, html_page, html_plots, html_table
    from rankae.report.svg import Line, line_chart

    names = ["precision", "recall", "micro-F1", "coverage"]
    x = [point["cut"] for point in points]
    lines = [Line(name, x, [point[name] for point in points], style=i) for i, name in enumerate(names)]
    head = ["cut", *names, "labels per row"]
    cells = [
        [f"{point['cut']:.4f}", *(f"{point[name]:.2f}" for name in [*names, "labels_per_row"])] for point in points
    ]
    cut_table = Grid("Cuts", head, cells, set(), 0)
    picture = line_chart(lines, f"aim {aim}", "cut (probability)", "percent")
    with written(path) as stream:
        sections = [html_note(source), html_plots("Curve", [picture]), html_table(cut_table)]
        stream.write(html_page("Where to cut", sections).encode())
