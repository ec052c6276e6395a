"""`rankae predict`: labels for new rows, in constant memory, from a file or a pipe to a file or a pipe."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

from rankae.cli.options import Delimiter, FormatName, Model, TextColumn, Threads, given, use_threads
from rankae.errors import RankaeError

_MOST_BY_CUT = 50  # labels of a row that a cut is applied to


def predict(
    model: Model,
    source: Annotated[str, typer.Argument(metavar="INPUT", help="A file, or - for standard input.")],
    k: Annotated[
        int | None, typer.Option("-k", "--k", min=1, help="Most labels per row; by default 5, or what passes the cut.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="A .jsonl or .csv file, .gz too; by default standard output.")
    ] = None,
    true: Annotated[
        bool, typer.Option("--true", help="Probability that a label is right, not that it would be recorded.")
    ] = False,
    all: Annotated[bool, typer.Option("--all", help="Also labels below the cut of `rankae threshold`.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Write CSV where no file name tells.")] = False,
    batch: Annotated[int, typer.Option(min=1, help="Rows to read at a time.")] = 1024,
    threads: Threads = None,
    format: FormatName = None,
    text_column: TextColumn = None,
    delimiter: Delimiter = None,
) -> None:
    """Predict labels for new rows, best first, a line for each row.

    INPUT is text (a document a line), JSONL, CSV, XMC text or npz, plain or compressed; labels in it are not looked at.
    """
    as_csv = _writes_csv(out, csv)
    use_threads(threads)
    import numpy as np

    from rankae.cli.answers import csv_head, csv_lines, json_lines
    from rankae.data import iter_batches
    from rankae.methods import load
    from rankae.progress import bar

    ranker = load(model)
    options = given(text_column=text_column, delimiter=delimiter)
    batches = iter_batches(source, format=format, batch=batch, reading=ranker.reading_, **options)
    cut = ranker.cuts_ is not None and not all
    k = min((_MOST_BY_CUT if cut else 5) if k is None else k, len(ranker.classes_))
    if true and ranker.calibration_ is None:
        raise RankaeError(f"{model}: the model was not calibrated, so there is nothing for --true to correct")
    lines = (csv_lines if as_csv else json_lines)(ranker.classes_)
    with _output(out) as stream, bar("predicting") as progress:
        if as_csv:
            stream.write(csv_head(k))
        for rows in batches:
            columns, scores = ranker.top_columns(rows.with_features(ranker.n_features_in_).rows, k)
            chances = None if ranker.calibration_ is None else ranker.probabilities(columns, scores)
            if cut:
                columns = np.where(ranker.selected(columns, scores, chances), columns, -1)
            if true and ranker.calibration_ is not None and chances is not None:
                chances = ranker.calibration_.true(chances)
            stream.writelines(lines(columns, scores, chances))
            stream.flush()
            progress.advance(len(rows))


def _writes_csv(out: Path | None, csv: bool) -> bool:
    if out is None:
        return csv
    from rankae.data.opening import without_compression

    ending = Path(without_compression(out.name)).suffix.lower()
    if ending not in (".csv", ".jsonl", ".json", ".ndjson"):
        raise RankaeError(f"{out}: predictions are written as .jsonl or .csv, plain or with .gz, .xz or .zst after it")
    return ending == ".csv"


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
