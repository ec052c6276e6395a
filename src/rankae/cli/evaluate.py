"""`rankae evaluate`: measures of a model on a split of a data set."""

from __future__ import annotations

import json as json_module
from typing import Annotated, Any

import typer

from rankae.cli.options import (
    Data,
    Delimiter,
    FormatName,
    IdColumn,
    Json,
    LabelColumn,
    LabelSeparator,
    Model,
    TextColumn,
    Threads,
    given,
    use_threads,
)
from rankae.errors import RankaeError
from rankae.report.terminal import print_measures


def evaluate(
    model: Model,
    data: Data,
    split: Annotated[str, typer.Option(help="Which split of a folder.")] = "test",
    k: Annotated[str, typer.Option("--k", "-k", help="The places at which to measure.")] = "1,3,5",
    json: Json = False,
    threads: Threads = None,
    format: FormatName = None,
    text_column: TextColumn = None,
    label_column: LabelColumn = None,
    label_separator: LabelSeparator = None,
    delimiter: Delimiter = None,
    id_column: IdColumn = None,
) -> None:
    """Measure a model: P@k, nDCG@k, PSP@k, PSnDCG@k, recall@k and coverage@k, in percent."""
    places = _places(k)
    use_threads(threads)
    from time import perf_counter

    from rankae.cli.measuring import measure
    from rankae.data import load_dataset
    from rankae.methods import load

    ranker = load(model)
    options = given(
        text_column=text_column,
        label_column=label_column,
        label_separator=label_separator,
        delimiter=delimiter,
        id_column=id_column,
    )
    rows = load_dataset(data, split, format=format, reading=ranker.reading_, **options)
    began = perf_counter()
    found: dict[str, Any] = measure(ranker, rows, places)
    found |= {
        "seconds": round(perf_counter() - began, 3),
        "model": str(model),
        "method": ranker.method,
        "data": rows.name,
        "split": split,
        "labels": len(ranker.classes_),
    }
    if json:
        typer.echo(json_module.dumps(found))
        return
    print_measures(f"{rows.name}: {found['rows']:,} rows", {ranker.method: found}, places)


def _places(text: str) -> list[int]:
    try:
        places = sorted({int(part) for part in text.split(",")})
    except ValueError:
        places = []
    if not places or places[0] < 1 or places[-1] > 1000:
        raise RankaeError(
            f"--k takes numbers from 1 to 1,000 with commas between, such as 1,3,5, but was given {text!r}"
        )
    return places
