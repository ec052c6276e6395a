"""Rows in batches, in constant memory: what `predict` reads, from a file or standard input."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from rankae.data.dataset import Dataset
from rankae.data.formats import FORMATS, Format, format_of, format_of_name
from rankae.data.formats.delimited import has_columns, names_a_column
from rankae.data.opening import OpenStream, first_line, is_pipe, open_data
from rankae.data.reading import ReadingSettings
from rankae.errors import DataError

_XMC = re.compile(rb"\d+[ \t]+\d+[ \t]+\d+[ \t]*|(\d+(,\d+)*)?([ \t]+\d+:\S+)+[ \t]*|\d+:\S+([ \t]+\d+:\S+)*[ \t]*")


def iter_batches(
    source: str | Path,
    format: str | None = None,
    batch: int = 1024,
    *,
    reading: ReadingSettings | None = None,
    labels: bool = True,
    **options: Any,
) -> Iterator[Dataset]:
    """Yield the rows of `source` in pieces of at most `batch`.

    Labels may be absent: `labels` then has no columns. Named labels are numbered anew in every piece.

    Parameters
    ----------
    source : a file, or "-" for standard input.
    format : by default the file name tells. For .txt and standard input the first line does: what is neither
        JSON nor XMC text nor fastText, nor a header with the columns of `reading`, is a document a line.
    labels : whether to look at labels; without, whatever stands in their place is no mistake.
    reading : how a model's training data was read (`model.reading_`); a file that does not fit is refused.
    options : as for `load_dataset`.
    """
    if batch < 1:
        raise DataError(f"a batch of {batch} rows was asked for; it must be at least 1")
    if not labels:
        reading = replace(reading or ReadingSettings(), ignore_labels=True)
    columns = {name: value for name, value in options.items() if ReadingSettings.is_option(name)}
    expected = (reading or ReadingSettings()).with_options(**columns)
    if str(source) != "-" and not is_pipe(source):
        chosen = _format_of_file(str(source), format, expected)
        return chosen.load().batches(str(source), batch, **chosen.options(source, reading, options))
    stream = OpenStream(open_data(source), "standard input" if str(source) == "-" else str(source))
    chosen = _format_of_line(first_line(stream), expected) if format is None else format_of_name("", format)
    if chosen.name in ("npz", "parquet", "xlsx"):
        raise DataError(f"{stream}: {chosen.name} cannot be read as a stream; give it as a file")
    return chosen.load().batches(stream, batch, **chosen.options(stream, reading, options))


def _format_of_file(path: str, format: str | None, expected: ReadingSettings) -> Format:
    chosen = format_of(path, format, expected.format)
    if format is not None or chosen.name != "xmc":
        return chosen
    with open_data(path) as stream:
        return _format_of_line(first_line(OpenStream(stream, path)), expected)


def _format_of_line(line: bytes, expected: ReadingSettings) -> Format:
    if line.startswith((b"\xff\xfe", b"\xfe\xff")):
        line = line.decode("utf-16", errors="replace").encode()
    line = line.removeprefix(b"\xef\xbb\xbf").rstrip(b"\r\n")
    if line.startswith(b"PK\x03\x04"):
        return FORMATS["npz"]
    if line.lstrip().startswith((b"{", b"[{")) or line.strip() == b"[":
        return FORMATS["jsonl"]
    if b"__label__" in line:
        return FORMATS["fasttext"]
    header = line.decode(errors="replace")
    if expected.text_columns and (has_columns(header, expected) or names_a_column(header, expected)):
        return FORMATS["csv"]  # whose reader says what is lacking
    return FORMATS["xmc" if _XMC.fullmatch(line) else "lines"]
