"""`rankae explain`: the words that made a document's labels rise or fall."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from rankae.cli.options import Json, Model
from rankae.cli.outputs import check_outputs
from rankae.cli.reading_options import ReadingOptions, reading_options

_FILES_OF_TEXT = {".txt", ".text", ".md", ".html", ".json", ".jsonl", ".csv", ".tsv"}


@reading_options("label_separator", "id_column")
def explain(
    model: Model,
    document: Annotated[
        str,
        typer.Argument(metavar="TEXT|FILE", help="A text, a file that holds one, - for stdin, or (with --row) DATA."),
    ],
    k: Annotated[int, typer.Option("-k", min=1, help="Labels to explain.")] = 5,
    view: Annotated[
        str, typer.Option(help="auto; contribution (exact summands); removal (leave a word out).")
    ] = "auto",
    row: Annotated[int | None, typer.Option(min=0, help="Explain this row of a data set, counted from 0.")] = None,
    split: Annotated[str, typer.Option(help="The data set's split that --row counts in.")] = "test",
    html: Annotated[Path | None, typer.Option(help="Write a page with a label picker here.")] = None,
    faithful: Annotated[
        bool,
        typer.Option("--faithful", help="Check: does deleting the named words lower scores faster than random ones?"),
    ] = False,
    json: Json = False,
    *,
    options: ReadingOptions,
) -> None:
    """Show which words speak for and against each label of a document."""
    import json as json_module
    import os

    from rankae.data.writing import written
    from rankae.explain import deletion_curve
    from rankae.explain import explain as explain_document
    from rankae.explain.show import html_explanation
    from rankae.methods import registry

    check_outputs([html], *([document] if os.path.exists(document) else []))
    ranker = registry.load(model)
    read, names = _document(ranker, document, row, split, options)
    explanation = explain_document(ranker, read, k, view, names)
    places = range(len(explanation.labels)) if faithful else []
    curves = [deletion_curve(ranker, explanation, label) for label in places]
    if html is not None:
        with written(html) as stream:
            stream.write(html_explanation(explanation, f"Why these labels? {ranker.method}", curves).encode())
    if json:
        result = explanation.to_dict()
        if curves:
            result["deletion"] = [vars(curve) | {"advantage": curve.advantage} for curve in curves]
        typer.echo(json_module.dumps(result))
        return
    _print(explanation, curves)
    if html is not None:
        typer.echo(f"{html}")


def _document(
    ranker: Any, given: str, row: int | None, split: str, options: ReadingOptions
) -> tuple[Any, list[str] | None]:
    """The text that was given, the content of a file, or a row of a data set."""
    import os
    import sys

    from rankae.errors import DataError

    reads_text = ranker.reads == "text" or ranker.text_ is not None
    if not reads_text or (row is not None and not os.path.isfile(given)):
        return _row_of_data(ranker, given, row or 0, split, options)
    if os.path.isfile(given) and (row is not None or _is_table(given, options.get("format"))):
        return _text_of_row(ranker, given, row, options), None
    if given == "-":
        return sys.stdin.read(), None
    if os.path.isfile(given):
        try:
            return Path(given).read_text(encoding="utf-8"), None
        except UnicodeDecodeError:
            raise DataError(f"{given}: this is no UTF-8 text; a row of a data set is explained with --row") from None
    if len(given.split()) == 1 and Path(given).suffix.lower() in _FILES_OF_TEXT:
        raise DataError(f"{given}: there is no such file; if this is the text itself, hand it in by -, as stdin")
    return given, None


def _row_of_data(
    ranker: Any, source: str, row: int, split: str, options: ReadingOptions
) -> tuple[Any, list[str] | None]:
    from rankae.data import load_dataset, splits_of
    from rankae.errors import DataError

    split = split if split in splits_of(source) else "train"
    data = load_dataset(source, split, reading=ranker.reading_, **options)
    if row >= len(data):
        raise DataError(f"{source}: there is no row {row}; the {split} split has {len(data)} rows")
    data = ranker.matching(data)
    one = data.take([row]).rows
    return (one[0] if isinstance(one, list) else one), data.feature_names


def _text_of_row(ranker: Any, path: str, row: int | None, options: ReadingOptions) -> str:
    """The text of a row of a file, whose labels are not looked at; without a row's number, of its only one."""
    from rankae.data import iter_batches
    from rankae.errors import DataError, RankaeError

    wanted, passed = row or 0, 0
    for batch in iter_batches(path, reading=ranker.reading_, labels=False, **options):
        if batch.texts is None:
            raise DataError(f"{path}: holds features, but the model reads texts")
        if row is None and len(batch) > 1:
            raise RankaeError(f"{path} holds rows of data: choose the one to explain with --row, counted from 0")
        if wanted < passed + len(batch):
            return batch.texts[wanted - passed]
        passed += len(batch)
    raise DataError(f"{path}: there is no row {wanted}; the file has {passed} rows")


def _is_table(path: str, format: str | None) -> bool:
    """Whether a file holds rows of data rather than one text."""
    from rankae.data.formats import ENDINGS, FORMATS
    from rankae.data.opening import without_compression

    if format is not None:
        return format in FORMATS
    found = ENDINGS.get(Path(without_compression(path)).suffix.lower())
    return found is not None and found.name not in ("xmc", "lines")


def _print(explanation: Any, curves: list[Any]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from rankae.explain.show import MEANINGS, NO_WORD_COUNTS, terminal_text

    console = Console()
    table = Table(title=MEANINGS[explanation.view], title_justify="left")
    for heading in ("label", "score", "raise it", "lower it", *(["faithfulness"] if curves else [])):
        table.add_column(heading, justify="right" if heading in ("score", "faithfulness") else "left")
    for i, label in enumerate(explanation.labels):
        named = explanation.strongest(i, 12)
        raising = ", ".join(f"{word} {weight:+.3f}" for word, weight in named if weight > 0)
        lowering = ", ".join(f"{word} {weight:+.3f}" for word, weight in named if weight < 0)
        cells = [label, f"{explanation.scores[i]:.3f}", raising, lowering]
        cells += [f"{curves[i].advantage:+.3f}"] if curves else []
        table.add_row(*map(Text, cells))
    console.print(table)
    if explanation.says_nothing:
        console.print(NO_WORD_COUNTS)
    elif explanation.labels:
        console.print(Text(f"{explanation.labels[0]}:", style="bold"))
        console.print(terminal_text(explanation))
    if curves:
        console.print(
            "faithfulness: how much further the score falls when the named words are deleted than with random ones",
            style="dim",
        )
