"""`rankae data`: list, info, fetch, make, convert."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import Annotated, Any

import typer

from rankae.cli.options import Data, Json
from rankae.cli.outputs import check_outputs
from rankae.cli.reading_options import ReadingOptions, reading_options
from rankae.report.terminal import print_table

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Look at data, fetch it, make it, convert it.")


@app.command("list")
def list_known(json: Json = False) -> None:
    """Known data sets, their published counts, and whether they are on this machine."""
    from rankae.data.known import KNOWN
    from rankae.data.sources import data_folders

    rows: list[dict[str, Any]] = []
    for known in KNOWN.values():
        place = next((folder / known.name for folder in data_folders() if (folder / known.name).is_dir()), None)
        rows.append(
            {
                "name": known.name,
                "train": known.train,
                "test": known.test,
                "labels": known.labels,
                "features": known.features,
                "in_paper": known.in_paper,
                "here": None if place is None else str(place),
                "home": known.home,
                "note": known.note,
            }
        )
    if json:
        typer.echo(json_module.dumps(rows))
        return
    columns = ["name", "train rows", "test rows", "labels", "features", "paper", "here"]
    cells = [
        [
            r["name"],
            *(_count(r[c]) for c in ("train", "test", "labels", "features")),
            _yes(r["in_paper"]),
            _yes(r["here"]),
        ]
        for r in rows
    ]
    print_table("Known data sets", columns, cells)


@app.command()
@reading_options()
def info(
    data: Data,
    json: Json = False,
    *,
    options: ReadingOptions,
) -> None:
    """Table 1 of the paper for any data, and where counts differ from the published ones."""
    from rankae.data.info import describe, like_empty

    facts = describe(data, **options)
    if json:
        typer.echo(json_module.dumps(facts))
        return
    cells = [
        *([f"{split} rows", f"{n:,}"] for split, n in facts["rows"].items()),
        ["labels", f"{facts['labels']:,}"],
        ["features", "text" if facts["features"] is None else f"{facts['features']:,}"],
        ["cardinality (labels per row)", f"{facts['cardinality']:.2f}"],
        ["instances per label", f"{facts['instances_per_label']:,.1f}"],
        *([f"duplicate rows in {split}", f"{n:,}"] for split, n in facts["duplicates"].items()),
        *([f"{split} rows also in train", f"{n:,}"] for split, n in facts["also_in_train"].items()),
        *([f"{split} rows without labels", f"{n:,}"] for split, n in facts["rows_without_labels"].items()),
        ["labels unseen in train", f"{facts['labels_unseen_in_train']:,}"],
    ]
    if facts["read"]:
        typer.echo(f"read: {facts['read']}")
    print_table(facts["name"], ["count", "value"], cells)
    most = max(facts["label_frequency"].values(), default=0)
    bars = [[span, f"{n:,}", "█" * round(40 * n / max(1, most))] for span, n in facts["label_frequency"].items()]
    print_table("labels by training rows", ["rows", "labels", ""], bars, left=(0, 2))
    if common := facts["frequent_labels"]:
        typer.echo("most frequent labels: " + ", ".join(f"{name} ({n:,})" for name, n in common.items()))
        if suspect := like_empty(common):
            typer.echo(f"counted as labels: {', '.join(suspect)}; if they mean that there is none, empty those cells")
    if facts["left_out"]:
        typer.echo(f"not read, for their names say no split: {', '.join(facts['left_out'])}")
    for difference in facts["differs"]:
        typer.echo(f"differs from what was published: {difference}")
    if facts["note"]:
        typer.echo(f"note: {facts['note']}")


@app.command()
def fetch(
    name: Annotated[str, typer.Argument(help="A name from `rankae data list`.")],
    to: Annotated[Path | None, typer.Option(help="Folder to put it in; by default the user's cache folder.")] = None,
    json: Json = False,
) -> None:
    """Download a known data set, check it and unpack it; an interrupted download goes on where it stopped."""
    from rankae.data.fetch import fetch as fetch_known

    fetched = fetch_known(name, to)
    if json:
        shown = {"folder": str(fetched.folder), "sha256": fetched.sha256, "confirmed": fetched.confirmed}
        typer.echo(json_module.dumps(shown))
        return
    typer.echo(f"{fetched.folder}")
    if fetched.confirmed:
        typer.echo("the archive has the published hash")
    else:
        typer.echo(f"no hash was published; its SHA-256 is recorded in SOURCE.json: {fetched.sha256}")


@app.command()
def make(
    out: Annotated[Path, typer.Argument(help="Folder to write train, test, labels.txt and vocab.txt into.")],
    like: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The shape of amazoncat-13k, wiki-500k or amazon-670k, as published."),
    ] = None,
    scale: Annotated[
        float, typer.Option(help="With --like: so many times the rows, and the labels and words that go with them.")
    ] = 1.0,
    rows: Annotated[int | None, typer.Option(help="Training rows; by default 5,000.")] = None,
    labels: Annotated[int | None, typer.Option(help="Distinct labels, up to millions; by default 200.")] = None,
    features: Annotated[
        int | None, typer.Option(help="Distinct words; by default 4 a label, 1,000 to 200,000.")
    ] = None,
    test_rows: Annotated[int | None, typer.Option(help="Test rows; by default a quarter of the training rows.")] = None,
    missing: Annotated[float, typer.Option(help="Share of training labels to drop.")] = 0.0,
    flips: Annotated[float, typer.Option(help="Share of training labels to replace by wrong ones.")] = 0.0,
    text: Annotated[
        bool | None, typer.Option("--text/--matrix", help="Raw texts (JSONL, the default) or a feature matrix.")
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same data.")] = 0,
    json: Json = False,
) -> None:
    """Draw documents from topics with dependent labels whose frequencies fall by a power law.

    With --like the data has the published rows, labels, features, labels per row, words per row and law of frequency
    of a large set; it is a feature matrix, and is written as it is drawn. --rows, --labels, --features and --test-rows
    then change one count of the shape.
    """
    from rankae.errors import DataError

    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise DataError(f"{out}: is there already and not empty; choose another folder")
    counts = {"rows": rows, "labels": labels, "features": features, "test_rows": test_rows}
    if like is not None:
        if text or missing or flips:
            raise DataError("--like makes a feature matrix with clean labels: leave out --text, --missing and --flips")
        made = _make_like(out, like, scale, counts, seed)
    elif scale != 1:
        raise DataError("--scale belongs to --like; give --rows and --labels instead")
    else:
        made = _make(out, counts, missing, flips, text is not False, seed)
    shown = {"folder": str(out)} | made
    typer.echo(
        json_module.dumps(shown) if json else f"{out}: {made['train']:,} training and {made['test']:,} test rows"
    )


def _make_like(out: Path, like: str, scale: float, counts: dict[str, int | None], seed: int) -> dict[str, int]:
    from dataclasses import replace

    from rankae.data.generate_like import write_like
    from rankae.data.shapes import shape_of
    from rankae.errors import DataError

    changed: dict[str, Any] = {name: n for name, n in counts.items() if n is not None}
    shape = replace(shape_of(like).scaled(scale), **changed)
    if min(shape.rows, shape.test_rows, shape.labels) < 1 or shape.features < 10:
        raise DataError("there must be at least one row, one label and ten features")
    return write_like(shape, out, seed)


def _make(
    out: Path, counts: dict[str, int | None], missing: float, flips: float, text: bool, seed: int
) -> dict[str, int]:
    from rankae.data.generate import make_dataset
    from rankae.data.writing import write_dataset, write_names

    rows, labels = (5_000 if (n := counts["rows"]) is None else n), (200 if (m := counts["labels"]) is None else m)
    train, test = make_dataset(
        rows, labels, counts["features"], counts["test_rows"], missing=missing, flips=flips, text=text, seed=seed
    )
    ending = "jsonl" if text else "txt"
    write_dataset(train, out / f"train.{ending}")
    write_dataset(test, out / f"test.{ending}")
    write_names(train.label_names or [], out / "labels.txt")
    if train.feature_names:
        write_names(train.feature_names, out / "vocab.txt")
    return {"train": len(train), "test": len(test), "labels": train.n_labels}


@app.command()
@reading_options()
def convert(
    source: Annotated[str, typer.Argument(metavar="IN", help="A folder, a file, or the name of a known data set.")],
    out: Annotated[
        Path,
        typer.Argument(metavar="OUT", help="A file: .txt (XMC), .jsonl, .npz or .store (mapped); .gz, .xz, .zst too."),
    ],
    split: Annotated[str, typer.Option(help="Which split of a folder.")] = "train",
    *,
    options: ReadingOptions,
    words: Annotated[bool, typer.Option(help="Turn texts into weighted words first.")] = False,
    json: Json = False,
) -> None:
    """Read data in one format and write it in another; the file appears only when it is complete."""
    from dataclasses import replace

    from rankae.data.formats import format_of_name
    from rankae.data.sources import load_dataset
    from rankae.data.text import TextFeatures
    from rankae.data.writing import write_dataset

    format_of_name(str(out))  # refuse a wrong ending before reading, not after
    check_outputs([out], source)
    if (streamed := _streamed_to_store(source, split, out, options.get("format"))) is not None:
        typer.echo(json_module.dumps(streamed) if json else f"{out}: {streamed['rows']:,} rows")
        return
    data = load_dataset(source, split, **options)
    if words and data.texts is not None:
        text = TextFeatures()
        data = replace(data, features=text.fit_transform(data.texts), texts=None, feature_names=text.words)
    write_dataset(data, out)
    shown = {"file": str(out), "rows": len(data), "labels": data.n_labels, "features": data.n_features}
    typer.echo(json_module.dumps(shown) if json else f"{out}: {len(data):,} rows, {data.n_labels:,} labels")


def _streamed_to_store(source: str, split: str, out: Path, format: str | None) -> dict[str, Any] | None:
    """XMC text with a header becomes a store piece by piece, whatever its size; None where that is not the case."""
    from rankae.data.batches import iter_batches
    from rankae.data.formats import format_of, format_of_name
    from rankae.data.formats.store import write_pieces
    from rankae.data.formats.xmc import header_of
    from rankae.data.names import read_names
    from rankae.data.sources import file_of
    from rankae.data.writing import written
    from rankae.errors import DataError

    if format_of_name(str(out)).name != "store":
        return None
    if out.suffix != ".store":
        raise DataError(f"{out}: a store is mapped, so it cannot be compressed; name it .store")
    path = file_of(source, split)
    if path is None or format_of(str(path), format).name not in ("xmc", "libsvm"):
        return None
    if (header := header_of(str(path))) is None:
        return None
    names = [
        read_names(file)[1] if file.is_file() else None for file in map(path.with_name, ("labels.txt", "vocab.txt"))
    ]
    counts = header.features, header.labels
    with written(out) as stream:
        rows = write_pieces(iter_batches(path, format=format, batch=8192), stream, *counts, *names)
    return {"file": str(out), "rows": rows, "labels": header.labels, "features": header.features}


def _count(n: int | None) -> str:
    return "-" if n is None else f"{n:,}"


def _yes(fact: Any) -> str:
    return "yes" if fact else "-"
