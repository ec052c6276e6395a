"""`rankae evaluate`: measures of a model on a split of a data set."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankae.cli.options import Data, Json, Model, Places, Quiet, Threads, be_quiet, places, use_threads
from rankae.cli.outputs import check_outputs
from rankae.cli.reading_options import ReadingOptions, reading_options
from rankae.errors import RankaeError
from rankae.report.terminal import print_measures, say

if TYPE_CHECKING:
    import scipy.sparse as sp

    from rankae.base.cuts import Cuts
    from rankae.base.ranker import LabelRanker


@reading_options()
def evaluate(
    model: Model,
    data: Data,
    split: Annotated[str, typer.Option(help="Which split of a folder.")] = "test",
    k: Places = "1,3,5",
    threshold: Annotated[
        bool, typer.Option("--threshold", help="Also F1 of the labels that pass the model's cut.")
    ] = False,
    cut: Annotated[float | None, typer.Option(min=0, max=1, help="A probability to cut at, in place of it.")] = None,
    per_label: Annotated[
        Path | None, typer.Option("--per-label", help="Write support, P, R, F1 of every label to this CSV file.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option("--report", "--html", help="Write a page with a reliability diagram.")
    ] = None,
    quiet: Quiet = False,
    json: Json = False,
    threads: Threads = None,
    *,
    options: ReadingOptions,
) -> None:
    """Measure a model: P@k, nDCG@k, PSP@k, recall@k, calibration (ECE@k, Brier@k) and F1, in percent."""
    at = places(k)
    use_threads(threads)
    be_quiet(quiet)
    check_outputs([per_label, report], data)
    from time import perf_counter

    from rankae.cli.evaluation_page import write_evaluation, write_per_label
    from rankae.cli.measuring import measured
    from rankae.data import load_dataset
    from rankae.data.fingerprint import fingerprint
    from rankae.methods import load

    ranker = load(model)
    rows = load_dataset(data, split, reading=ranker.reading_, **options)
    if not rows.labels.nnz:
        raise RankaeError(f"{rows.name} ({split}): no row has a label, so there is nothing to measure")
    trained_on = fingerprint(rows) == ranker.facts_.get("fingerprint")
    if trained_on:
        typer.echo(
            f"warning: the model was trained on these rows of {data}; figures for new rows will be lower",
            err=True,
        )
    began = perf_counter()
    if cut is not None:
        _cut_at(ranker, cut)
    result = measured(ranker, rows, at)
    cuts = ranker.cuts_
    figures: dict[str, Any] = result.figures | {
        "cut": None if cuts is None else cuts.aim,
        "seconds": round(perf_counter() - began, 3),
        "model": str(model),
        "method": ranker.method,
        "data": rows.name,
        "split": split,
        "labels": len(ranker.classes_),
        "trained_on_these_rows": trained_on,
        "unknown_labels": round(_unknown_share(result.labels, len(ranker.classes_)), 2),
    }
    if per_label is not None:
        write_per_label(per_label, result)
    if report is not None:
        write_evaluation(report, result, figures, at)
    if json:
        typer.echo(json_module.dumps(figures))
        return
    print_measures(f"{rows.name}: {figures['rows']:,} rows", {ranker.method: figures} | _best(figures, at), at)
    if figures["unknown_labels"]:
        say(f"{figures['unknown_labels']:.2f} % of the labels are unknown to the model and count as misses")
    _print_calibration(figures, at)
    if threshold or cut is not None:
        _print_f1(figures, cuts)


def _unknown_share(labels: sp.csr_matrix, known: int) -> float:
    """The share of all rows' labels that the model has never seen, in percent."""
    return 100 * float((labels.indices >= known).mean()) if labels.nnz else 0.0


def _best(figures: dict[str, Any], at: tuple[int, ...]) -> dict[str, dict[str, Any]]:
    """A line with the best attainable P@k, if rows with few labels keep it below 100."""
    best = {f"P@{k}": figures[f"P@{k}-best"] for k in at}
    return {"best attainable": best} if min(best.values()) < 99.995 else {}


def _cut_at(ranker: LabelRanker, cut: float) -> None:
    from rankae.base.cuts import Cuts

    if ranker.calibration_ is None:
        raise RankaeError("--cut is a probability, but the model was not calibrated; leave it out")
    ranker.cuts_ = Cuts(f"p >= {cut:g}", cut)


def _print_calibration(figures: dict[str, Any], at: tuple[int, ...]) -> None:
    if "NLL" in figures:
        errors = ", ".join(f"ECE@{k} {figures[f'ECE@{k}']:.2f}" for k in at)
        say(f"{errors} (perfect: {figures[f'ECE-chance@{at[0]}']:.2f} at {at[0]}); NLL {figures['NLL']:.4f}")


def _print_f1(figures: dict[str, Any], cuts: Cuts | None) -> None:
    names = ("micro-F1", "macro-F1", "weighted-F1", "example-F1", "precision", "recall")
    shown = ", ".join(f"{name} {figures[name]:.2f}" for name in names)
    where = "scores of at least the training threshold (no cut is stored; see `rankae threshold`)"
    if cuts is not None:
        per_label = "; labels have cuts of their own" if cuts.label_cuts is not None else ""
        where = cuts.aim if cuts.aim.startswith("p >=") else f"cut for {cuts.aim} (p >= {cuts.overall:.4f}{per_label})"
    say(f"{where}: {shown}; {figures['labels_per_row']:.2f} labels per row")
