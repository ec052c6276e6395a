"""`rankae predict`: labels for new rows, in constant memory, from a file or a pipe to a file or a pipe."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from rankae.cli.options import Cluster, Model, Quiet, Threads, be_quiet, use_threads
from rankae.cli.outputs import check_outputs
from rankae.cli.reading_options import ReadingOptions, reading_options
from rankae.errors import RankaeError

if TYPE_CHECKING:
    import numpy as np

    from rankae.base.ranker import LabelRanker
    from rankae.data import Dataset
    from rankae.report.answers import Answer, Writer

_MOST_BY_CUT = 50  # labels of a row that a cut is applied to
_ENDINGS = {".csv": "csv", ".jsonl": "jsonl", ".json": "jsonl", ".ndjson": "jsonl", ".xlsx": "xlsx"}


@reading_options("label_column", "label_separator")
def predict(
    model: Model,
    source: Annotated[str, typer.Argument(metavar="INPUT", help="A file, or - for standard input.")],
    k: Annotated[
        int | None, typer.Option("-k", "--k", min=1, help="Most labels per row; by default 5, or what passes the cut.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", help="A .jsonl, .csv or .xlsx file, .gz too; by default standard output."),
    ] = None,
    keep: Annotated[str | None, typer.Option(help="Columns of the input to pass through, such as title,url.")] = None,
    threshold: Annotated[
        float | None, typer.Option(min=0, max=1, help="Only labels with at least this probability.")
    ] = None,
    min_labels: Annotated[int, typer.Option(min=0, help="So many labels per row, whatever the cut says.")] = 0,
    max_labels: Annotated[int | None, typer.Option(min=1, help="Most labels per row, as -k.")] = None,
    true: Annotated[
        bool, typer.Option("--true", help="Probability that a label is right, not that it would be recorded.")
    ] = False,
    all: Annotated[bool, typer.Option("--all", help="Also labels below the cut of `rankae threshold`.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Write CSV where no file name tells.")] = False,
    bom: Annotated[
        bool, typer.Option("--bom", help="CSV: begin with the mark by which Excel knows UTF-8 (é, ü, 中).")
    ] = False,
    formulas: Annotated[
        bool, typer.Option("--formulas", help="CSV: no apostrophe before texts that begin with = + - @.")
    ] = False,
    batch: Annotated[int, typer.Option(min=1, help="Rows to read at a time; those of a pipe as they come.")] = 1024,
    cluster: Cluster = None,
    threads: Threads = None,
    quiet: Quiet = False,
    *,
    options: ReadingOptions,
) -> None:
    """Predict labels for new rows, best first, a line for each row.

    INPUT is text (a document a line), JSONL, CSV, Parquet, XMC text or npz, plain or compressed; it is read as the
    training data was, and labels in it are not looked at. A column of ids goes along.
    With --cluster each batch is a task; answers come in the order of the rows, and a run that is started again goes on.
    """
    kind = _kind(out, csv)
    use_threads(threads)
    be_quiet(quiet)
    from rankae.cli.on_cluster import cluster_workers
    from rankae.data import iter_batches
    from rankae.methods import load
    from rankae.progress import bar
    from rankae.report.answers import CsvLines, JsonLines, Table, Workbook, check_kept

    check_outputs([out], *([source] if Path(source).exists() else []))
    check_kept(keep.split(",") if keep else [])
    if keep is not None:
        options["keep"] = keep
    ranker = load(model)
    cut = Cut(threshold, ranker.cuts_ is not None and not all and threshold is None, min_labels, true)
    if ranker.calibration_ is None and (true or threshold is not None):
        raise RankaeError(
            f"{model}: the model was not calibrated, so it has no probabilities for "
            f"{'--true' if true else '--threshold'}; calibrate it with `rankae threshold`"
        )
    most = max_labels or k or (_MOST_BY_CUT if cut.stored or threshold is not None else 5)
    if min_labels > most:
        raise RankaeError(f"--min-labels {min_labels} is more than the {most} labels that a row may have; raise -k")
    table = Table(ranker.classes_, min(most, len(ranker.classes_)))
    batches = iter_batches(source, batch=batch, reading=ranker.reading_, labels=False, **options)
    work = _work_folder(model, out)
    with cluster_workers(cluster, work) as workers, _output(out) as stream, bar("predicting") as progress:
        best: Iterable[tuple[Dataset, np.ndarray, np.ndarray]]
        if workers is None:
            best = ((rows, *ranker.top_columns(ranker.matching(rows).rows, table.k)) for rows in batches)
        else:
            from rankae.cluster import predicted

            best = predicted(workers, model, batches, ranker.matching, table.k)
        writer: Writer
        if kind == "jsonl":
            writer = JsonLines(stream, ranker.classes_)
        elif kind == "csv":
            writer = CsvLines(stream, table, bom=bom, formulas=formulas)
        else:
            writer = Workbook(stream, table)
        for rows, columns, scores in best:
            writer.write(_answer(ranker, rows, columns, scores, cut))
            progress.advance(len(rows))
        writer.close()
    if cluster is not None:
        shutil.rmtree(work, ignore_errors=True)


@dataclass(frozen=True)
class Cut:
    """Which of a row's best labels are predicted.

    threshold : least probability; None for all.
    stored : whether to apply the cut that `rankae threshold` has stored in the model.
    least : number of labels that are predicted in any case.
    true : whether probabilities are those that a label is true, instead of those that it would be recorded.
    """

    threshold: float | None
    stored: bool
    least: int
    true: bool


def _answer(ranker: LabelRanker, rows: Dataset, columns: np.ndarray, scores: np.ndarray, cut: Cut) -> Answer:
    from rankae.report.answers import Answer, carried_of

    calibration = ranker.calibration_
    recorded = None if calibration is None else ranker.probabilities(columns, scores)
    shown = calibration.true(recorded) if cut.true and calibration is not None and recorded is not None else recorded
    answer = Answer(columns, scores, shown, carried_of(rows))
    if cut.stored:
        keep = ranker.selected(columns, scores, recorded)
    elif cut.threshold is not None and shown is not None:
        keep = shown >= cut.threshold
    else:
        return answer
    keep[:, : cut.least] = True
    return answer.cut(keep & (columns >= 0))


def _work_folder(model: Path, out: Path | None) -> Path:
    """The folder of a cluster's inputs and results: beside the output, else beside the model."""
    beside = model if out is None else out
    return beside.with_name(f"{beside.name}.parts")


def _kind(out: Path | None, csv: bool) -> str:
    if out is None:
        return "csv" if csv else "jsonl"
    from rankae.data.opening import without_compression

    ending = Path(without_compression(out.name)).suffix.lower()
    if out.exists() and not out.is_file() and ending not in _ENDINGS:  # a pipe or a device has no ending
        return "csv" if csv else "jsonl"
    if ending not in _ENDINGS:
        raise RankaeError(
            f"{out}: predictions are written as .jsonl, .csv or .xlsx, the first two also with .gz, .xz or .zst after"
        )
    return _ENDINGS[ending]


@contextmanager
def _output(out: Path | None) -> Iterator[BinaryIO]:
    if out is None:
        try:
            yield sys.stdout.buffer
        except BrokenPipeError:
            raise  # the reader has seen enough
        except OSError as error:
            raise RankaeError(f"standard output: {error.strerror or error}") from None
        return
    from rankae.data.writing import written

    with written(out) as stream:
        yield stream
