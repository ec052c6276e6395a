"""`rankae predict`: labels for new rows, in constant memory, from a file or a pipe to a file or a pipe."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from rankae.cli.options import Delimiter, FormatName, Model, TextColumn, Threads, given, use_threads
from rankae.errors import RankaeError

if TYPE_CHECKING:
    import numpy as np


def predict(
    model: Model,
    source: Annotated[str, typer.Argument(metavar="INPUT", help="A file, or - for standard input.")],
    k: Annotated[int, typer.Option("-k", "--k", min=1, help="Labels a row.")] = 5,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="A .jsonl or .csv file, .gz too; by default standard output.")
    ] = None,
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
    from rankae.cli.answers import csv_head, csv_lines, json_lines
    from rankae.data import iter_batches
    from rankae.methods import load
    from rankae.progress import bar

    ranker = load(model)
    options = given(text_column=text_column, delimiter=delimiter)
    batches = iter_batches(source, format=format, batch=batch, reading=ranker.reading_, **options)
    k = min(k, len(ranker.classes_))
    lines: Callable[[np.ndarray, np.ndarray], Iterator[bytes]] = (csv_lines if as_csv else json_lines)(ranker.classes_)
    with _output(out) as stream, bar("predicting") as progress:
        if as_csv:
            stream.write(csv_head(k))
        for rows in batches:
            columns, scores = ranker.top_columns(rows.with_features(ranker.n_features_in_).rows, k)
            stream.writelines(lines(columns, scores))
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
