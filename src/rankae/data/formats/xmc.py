"""The extreme classification repository's text format, and LibSVM multi-label files, which differ only in the header.

rows features labels                     (the header; LibSVM files and some others have none)
label,label,... feature:value ...        (a row without labels begins with a blank)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
import scipy.sparse as sp

from rankae.data.dataset import Dataset
from rankae.data.opening import Source, chunks_of_lines, open_data
from rankae.errors import DataError

CHUNK = 4 << 20
# Ids beyond this are taken for damage: a table with a row for each would not fit in memory anyway.
MOST_COLUMNS = 1 << 27
_HEADER = re.compile(rb"[ \t]*(\d{1,18})[ \t]+(\d{1,18})[ \t]+(\d{1,18})[ \t\r]*")


@dataclass(frozen=True)
class Header:
    rows: int
    features: int
    labels: int


def header_of(path: str) -> Header | None:
    """The header in the first line, if there is one."""
    with open_data(path) as stream:
        match = _HEADER.fullmatch(stream.readline(1 << 10).rstrip(b"\n"))
    return None if match is None else Header(*map(int, match.groups()))


def read(path: Source, n_features: int | None = None, n_labels: int | None = None) -> Dataset:
    """Read a whole file; without a header (or the counts given here) the widest row sets the number of columns."""
    parts = list(_parse(path, CHUNK, n_features, n_labels))
    header = parts[0][0]
    labels = _joined([labels for _, labels, _ in parts], header.labels if header else n_labels)
    features = _joined([features for _, _, features in parts], header.features if header else n_features)
    if header and labels.shape[0] != header.rows:
        raise DataError(f"{path}: the header promises {header.rows} rows, but there are {labels.shape[0]}")
    if not header and not labels.shape[0]:
        raise DataError(f"{path}: there are no rows in the file")
    return Dataset(labels=labels, features=features, name=str(path))


def batches(path: Source, size: int, n_features: int | None = None, n_labels: int | None = None) -> Iterator[Dataset]:
    """Pieces of at most `size` rows, in constant memory."""
    seen, header = 0, None
    for part_header, labels, features in _parse(path, 1 << 20, n_features, n_labels):
        seen, header = seen + labels.shape[0], part_header
        for start in range(0, labels.shape[0], size):
            part = slice(start, start + size)
            yield Dataset(labels=labels[part], features=features[part], name=str(path))
    if header and seen != header.rows:
        raise DataError(f"{path}: the header promises {header.rows} rows, but there are {seen}")


def write(data: Dataset, stream: BinaryIO) -> None:
    """Write with a header. Values keep the shortest digits that read back as the same float32."""
    if data.features is None:
        raise DataError(f"{data.name}: XMC text holds features, not raw text; write .jsonl or .npz instead")
    features, labels = data.features, data.labels
    stream.write(f"{data.n_rows} {data.n_features} {data.n_labels}\n".encode())
    for start in range(0, data.n_rows, 4096):
        block, block_labels = features[start : start + 4096], labels[start : start + 4096]
        # Weights repeat a lot, and printing a float is slow: print each distinct one once.
        distinct, which = np.unique(block.data, return_inverse=True)
        digits = [f":{value}" for value in distinct]
        pairs = [f"{j}{digits[i]}" for j, i in zip(block.indices.tolist(), which.tolist(), strict=True)]
        numbers = [str(j) for j in block_labels.indices.tolist()]
        ends = zip(block_labels.indptr[:-1], block_labels.indptr[1:], block.indptr[:-1], block.indptr[1:], strict=True)
        rows = [f"{','.join(numbers[a:b])} {' '.join(pairs[c:d])}\n" for a, b, c, d in ends]
        stream.write("".join(rows).encode())


Part = tuple[Header | None, sp.csr_matrix, sp.csr_matrix]


def _parse(path: Source, chunk_size: int, n_features: int | None, n_labels: int | None) -> Iterator[Part]:
    """(header, labels, features) for every chunk of lines; always at least one, even of no rows."""
    with open_data(path) as stream:
        chunks = chunks_of_lines(stream, path, chunk_size)
        first = next(chunks, b"")
        line_end = first.find(b"\n") if b"\n" in first else len(first)
        header, line = None, 0
        if match := _HEADER.fullmatch(first[:line_end]):
            header, line = Header(*map(int, match.groups())), 1
            if max(header.features, header.labels) > MOST_COLUMNS:
                raise DataError(f"{path}, line 1: the header promises more than {MOST_COLUMNS:,} columns")
            first = first[line_end + 1 :]
            n_features, n_labels = header.features, header.labels
        while True:
            labels, features, lines = _parse_chunk(first, path, line, n_features, n_labels)
            yield header, labels, features
            line += lines
            first = next(chunks, b"")
            if not first:
                return


def _parse_chunk(
    chunk: bytes, path: Source, lines_before: int, n_features: int | None, n_labels: int | None
) -> tuple[sp.csr_matrix, sp.csr_matrix, int]:
    from rankae.data.formats.xmc_kernel import parse

    if not chunk.endswith(b"\n"):
        chunk += b"\n"
    text = np.frombuffer(chunk, dtype=np.uint8)
    most_rows, commas, colons = (np.count_nonzero(text == ord(c)) for c in "\n,:")
    label = np.empty(most_rows + commas, dtype=np.int32)
    feature = np.empty(colons, dtype=np.int32)
    value = np.empty(len(feature), dtype=np.float32)
    label_end = np.zeros(most_rows + 1, dtype=np.int64)
    feature_end = np.zeros(most_rows + 1, dtype=np.int64)
    line_of_row = np.empty(most_rows, dtype=np.int64)
    widths = (
        MOST_COLUMNS if n_labels is None else n_labels,
        MOST_COLUMNS if n_features is None else n_features,
    )
    rows, lines, problem, place = parse(
        text, *widths, label, label_end[1:], feature, value, feature_end[1:], line_of_row
    )
    if problem:
        raise DataError(f"{path}, line {lines_before + lines}: {_problem(problem, chunk, place, *widths)}")
    labels = _csr(label, np.ones(label_end[rows], np.float32), label_end[: rows + 1], n_labels)
    labels.sum_duplicates()
    labels.data[:] = 1  # a label given twice is given once
    features = _csr(feature, value, feature_end[: rows + 1], n_features)
    features.sort_indices()
    twice = np.flatnonzero(features.indices[1:] == features.indices[:-1]) + 1
    twice = twice[~np.isin(twice, features.indptr)]  # the end of one row may equal the start of the next
    if len(twice):
        row = int(np.searchsorted(features.indptr, twice[0], side="right")) - 1
        line = lines_before + int(line_of_row[row])
        raise DataError(f"{path}, line {line}: feature {features.indices[twice[0]]} is given twice")
    return labels, features, lines


def _csr(indices: np.ndarray, values: np.ndarray, indptr: np.ndarray, width: int | None) -> sp.csr_matrix:
    indices, values = indices[: indptr[-1]], values[: indptr[-1]]
    width = int(indices.max(initial=-1)) + 1 if width is None else width
    return sp.csr_matrix((values, indices, indptr), shape=(len(indptr) - 1, width))


def _joined(parts: list[sp.csr_matrix], width: int | None) -> sp.csr_matrix:
    width = max(part.shape[1] for part in parts) if width is None else width
    if len(parts) == 1:
        return parts[0]
    starts = np.cumsum([0] + [part.nnz for part in parts])
    indptr = np.concatenate([[0]] + [part.indptr[1:] + start for part, start in zip(parts, starts, strict=False)])
    indices = np.concatenate([part.indices for part in parts])
    values = np.concatenate([part.data for part in parts])
    return sp.csr_matrix((values, indices, indptr), shape=(len(indptr) - 1, width))


def _problem(problem: int, chunk: bytes, place: int, most_labels: int, most_features: int) -> str:
    from rankae.data.formats import xmc_kernel as kernel

    match = re.match(rb"[^\s]{0,40}", chunk[place : place + 60])
    token = (match.group() if match else b"").decode(errors="replace")
    return {
        kernel.BAD_LABEL: f"{token!r} is not a list of label numbers such as 3,17",
        kernel.BAD_FEATURE: f"{token!r} is not a pair feature:value such as 12:0.5",
        kernel.BAD_VALUE: f"the value in {token!r} is not a finite number",
        kernel.LABEL_RANGE: f"a label in {token!r} is out of range, the labels are 0 to {most_labels - 1}",
        kernel.FEATURE_RANGE: f"the feature in {token!r} is out of range, the features are 0 to {most_features - 1}",
    }[problem]
