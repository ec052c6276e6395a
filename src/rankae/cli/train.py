"""`rankae train`: from a data set to a model folder."""

from __future__ import annotations

import json as json_module
import shlex
import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankae.base.choices import describe
from rankae.cli.options import Cluster, Data, Json, Quiet, Threads, be_quiet, given, use_threads
from rankae.cli.outputs import check_outputs
from rankae.cli.reading_options import ReadingOptions, reading_options
from rankae.cli.set_option import parse_settings
from rankae.data.reading import ReadingSettings
from rankae.errors import OtherRank, RankaeError

if TYPE_CHECKING:
    from rankae.base.ranker import LabelRanker
    from rankae.data import Dataset

HELD_OUT = 0.2
INTERRUPTED = 130


def _method_names() -> list[str]:
    from rankae.methods import names

    return names()


Method = Annotated[str, typer.Option(help="Rank-AE, a variant of it or a rival.", autocompletion=_method_names)]


@reading_options()
def train(
    context: typer.Context,
    data: Data,
    model: Annotated[Path | None, typer.Option("--model", metavar="DIR", help="Folder to write the model to.")] = None,
    preset: Annotated[str | None, typer.Option(help="default, fast, paper, or a JSON file of settings.")] = None,
    method: Method = "rank-ae",
    set: Annotated[list[str] | None, typer.Option(metavar="KEY=VALUE", help="A parameter; may be repeated.")] = None,
    words: Annotated[str | None, typer.Option(help="bilstm reads documents word by word (preset paper).")] = None,
    validation: Annotated[
        bool, typer.Option("--validation", help="First measure on a held-out fifth, then train on everything.")
    ] = False,
    trusted: Annotated[
        str | None,
        typer.Option(metavar="DATA", help="Checked rows: where labels are noisy, they choose."),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="What labels are called (JSONL, CSV, SKOS); those of no row can be found."),
    ] = None,
    also: Annotated[
        list[str] | None,
        typer.Option(metavar="DATA", help="Further rows, such as a desk's decisions; may be repeated."),
    ] = None,
    calibrate: Annotated[
        bool | None,
        typer.Option(
            "--calibrate/--no-calibrate",
            help="Train once more on nine tenths of the rows, for probabilities; by default if that is short.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The same seed and number of threads give the same model.")] = 0,
    force: Annotated[
        bool, typer.Option("--force", help="Replace a model of other data; the old one is kept as DIR.before.")
    ] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the checkpoint of a stopped training.")] = False,
    plan: Annotated[
        bool, typer.Option("--plan", help="Print what training would take (time, memory, model size), and stop.")
    ] = False,
    memory: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="Keep within, such as 8G; by default three quarters of what is free."),
    ] = None,
    report: Annotated[Path | None, typer.Option(help="Write a page about the training to this HTML file.")] = None,
    cluster: Cluster = None,
    threads: Threads = None,
    quiet: Quiet = False,
    json: Json = False,
    *,
    options: ReadingOptions,
) -> None:
    """Train a model and write it to a folder; no option but --model is needed, and with --plan not even that.

    `torchrun --nproc-per-node N -m rankae train ...` trains the presets of the paper on several processes.
    With --cluster, workers read the inputs from, and leave finished shards in, DIR.checkpoint, which they must share.
    Ctrl-C keeps the last checkpoint, in DIR.checkpoint, from which --resume goes on.
    """
    use_threads(threads)
    be_quiet(quiet)
    from rankae.cli.fitting import fit_and_save, model_of_other_data, new_ranker
    from rankae.cli.on_cluster import cluster_workers, sharing_with
    from rankae.cli.plan import keep_within, parse_size, plan_of, show_plan
    from rankae.cli.torchrun import place_of_rank, process_group, rank, started_again
    from rankae.data import load_dataset
    from rankae.model_file import check_place
    from rankae.model_file.lock import only_one

    most_bytes = None if memory is None else parse_size(memory)
    model = place_of_rank(_place_of_model(model, plan))
    resume = resume or started_again()
    check_place(model)
    check_outputs([report], data, *([] if trusted is None else [trusted]), *(also or []))
    checkpoint = model.with_name(f"{model.name}.checkpoint")
    parameters = parse_settings(set or []) | given(
        preset=preset, words=words, labels=None if labels is None else str(labels)
    )
    usual: dict[str, Any] = {"random_state": seed, "threads": threads}
    ranker = new_ranker(method, parameters, usual | {"checkpoint": str(checkpoint), "resume": resume})
    if not plan:
        context.with_resource(only_one(checkpoint, "training"))
        if rank() == 0:
            _check_checkpoint(method, ranker, checkpoint, resume)
    if trusted is not None:
        _check_use_of_trusted(method)
    rows = load_dataset(data, "train", **options)
    facts: dict[str, Any] = {"seed": seed}
    if also:
        from rankae.cli.desk_data import load_rows
        from rankae.data.joined import joined

        rows, replaced_rows = joined(rows, [load_rows(one) for one in also])
        facts["also"] = also
        if replaced_rows:
            typer.echo(f"{replaced_rows:,} rows gave way to later ones with the same text", err=True)
    if plan:
        show_plan(plan_of(ranker, rows, most_bytes), json)
        return
    replaced = model_of_other_data(model, rows)
    if replaced is not None and not force:
        raise RankaeError(
            f"{model} holds a model of other data ({replaced}): choose another --model, or give --force, "
            f"which keeps the old one as {model.name}.before"
        )
    facts |= keep_within(ranker, rows, most_bytes)
    checked: dict[str, Dataset] = {}
    if trusted is not None:
        options.pop("format", None)  # that of DATA
        alike = rows.reading.for_other_files() if rows.reading is not None else None
        checked["trusted"] = _in_columns_of(rows, load_dataset(trusted, reading=alike, **options))
        facts["trusted_rows"] = len(checked["trusted"])
    try:
        if validation:
            facts["held_out"] = _held_out_measures(new_ranker(method, parameters, usual), rows, checked, seed)
        with (
            cluster_workers(cluster, checkpoint / "cluster") as workers,
            sharing_with(workers),
            process_group() as alone,
        ):
            kept, calibrate = replaced is not None, calibrate if alone else False
            facts = fit_and_save(ranker, rows, model, checked, calibrate, keep_old=kept, **facts)
            if workers is not None:
                facts["cluster"] = workers.summary()
    except OtherRank:
        return  # the first process has the whole network, and saves it
    except KeyboardInterrupt:
        typer.echo(_how_to_go_on(checkpoint, context.obj), err=True)
        raise typer.Exit(INTERRUPTED) from None
    shutil.rmtree(checkpoint, ignore_errors=True)
    if report is not None:
        from rankae.cli.training_page import write_report

        write_report(report, ranker, facts)
    if json:
        typer.echo(json_module.dumps({"model": str(model)} | facts))
    elif not quiet:
        _tell(model, facts)


def _place_of_model(model: Path | None, plan: bool) -> Path:
    if model is None and not plan:
        raise RankaeError(
            "say where to write the model with --model DIR, or ask for a plan with --plan; see `rankae train --help`"
        )
    return Path("model-of-the-plan") if model is None else model


def _check_checkpoint(method: str, ranker: LabelRanker, checkpoint: Path, resume: bool) -> None:
    """A checkpoint is neither overwritten nor resumed unless the user says so."""
    if resume and "checkpoint" not in ranker.get_params():
        raise RankaeError(f"{method} keeps no checkpoints; train it without --resume")
    if resume and not checkpoint.exists():
        typer.echo(f"there is no checkpoint in {checkpoint}: training starts from the beginning", err=True)
    if checkpoint.exists() and not resume:
        raise RankaeError(f"{checkpoint} holds a stopped training: go on with --resume, or delete it to start anew")


def _check_use_of_trusted(method: str) -> None:
    from rankae.methods import METHODS
    from rankae.methods.registry import method_of

    if not method_of(method).trusted_choose:
        able = ", ".join(name for name, known in METHODS.items() if known.trusted_choose)
        raise RankaeError(f"{method} makes no use of trusted rows; leave out --trusted, or choose one of {able}")


def _in_columns_of(rows: Dataset, others: Dataset) -> Dataset:
    """Other rows with the label and feature columns of `rows`; further labels are dropped."""
    if (rows.texts is None) != (others.texts is None):
        raise RankaeError("the rows of DATA and of --trusted must both be texts, or both be features")
    names = rows.label_names if rows.label_names is not None else range(rows.n_labels)
    aligned = others.aligned_to(names).with_features(rows.n_features)
    return replace(aligned, labels=aligned.labels[:, : rows.n_labels], label_names=rows.label_names)


def _held_out_measures(
    ranker: LabelRanker, rows: Dataset, checked: dict[str, Dataset], seed: int
) -> dict[str, float | int]:
    """Measures on a held-out fifth of the rows, of a model trained on the others."""
    from rankae.cli.measuring import measure
    from rankae.data import split_rows

    learn, check = split_rows(len(rows), HELD_OUT, seed)
    return measure(ranker.fit_dataset(rows.take(learn), **checked), rows.take(check))


def _how_to_go_on(checkpoint: Path, arguments: list[str] | None) -> str:
    if not checkpoint.exists():
        return "stopped before the first checkpoint; nothing was written"
    again = [argument for argument in arguments or [] if argument != "--resume"]
    return f"stopped; the last checkpoint is kept, go on with: {shlex.join(['rankae', *again, '--resume'])}"


def _tell(model: Path, facts: dict[str, Any]) -> None:
    if (reading := ReadingSettings.from_json(facts["reading"])) is not None:
        typer.echo(f"read: {reading.describe()}")
    for name, choice in facts["choices"].items():
        typer.echo(f"{name}: {describe(choice)}")
    if measures := facts.get("held_out"):
        shown = ", ".join(f"{name} {measures[name]:.2f}" for name in ("P@1", "P@3", "P@5", "nDCG@5", "PSP@1"))
        typer.echo(f"on a held-out fifth: {shown}")
    typer.echo(f"probabilities: {facts['calibration']}")
    typer.echo(
        f"{model}: {facts['method']}, {facts['rows']:,} rows, {facts['labels']:,} labels, {facts['seconds']:.1f} s"
    )
