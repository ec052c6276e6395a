"""Reads files of label names: JSON lines, CSV, or a SKOS vocabulary (Turtle, RDF/XML, N-Triples)."""

from __future__ import annotations

import csv
import json
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from rankae.data.label_names import LabelEntry
from rankae.data.opening import open_data, text_lines
from rankae.errors import DataError, MissingExtra

_SKOS_FORMATS = {".ttl": "turtle", ".rdf": "xml", ".xml": "xml", ".nt": "nt"}
_LISTS = ("alternatives", "parents")
_MOST_LABELS = 10_000_000
_MOST_SKOS_BYTES = 2**30
_MORE = "|"  # between several values in a cell


def read_label_file(path: str | Path, carried: Collection[str] = ()) -> list[LabelEntry]:
    """The labels of a file, each once, in its order.

    A JSON object or a CSV row has "label", and may have "name", "alternatives", "description" and "parents" (lists, or
    values separated by |). For a SKOS vocabulary the label is the notation, the preferred name or the address,
    whichever matches most of the labels `carried` by rows.
    """
    path = Path(path)
    name = path.name.removesuffix(".gz").removesuffix(".xz").removesuffix(".zst")
    ending = Path(name).suffix.lower()
    if ending in _SKOS_FORMATS:
        entries = _of_skos(path, _SKOS_FORMATS[ending], set(carried))
    elif ending in (".jsonl", ".csv", ".tsv"):
        entries = _of_lines(path, ending)
    else:
        raise DataError(f"{path}: labels are read from .jsonl, .csv, .tsv or SKOS ({', '.join(_SKOS_FORMATS)})")
    by_label: dict[str, LabelEntry] = {}
    for where, entry in entries:
        if entry.label in by_label:
            raise DataError(f"{where}: the label {entry.label[:60]!r} is listed twice")
        if len(by_label) >= _MOST_LABELS:
            raise DataError(f"{path}: more than {_MOST_LABELS:,} labels")
        by_label[entry.label] = entry
    if not by_label:
        raise DataError(f"{path}: there are no labels in the file")
    return list(by_label.values())


def _of_lines(path: Path, ending: str) -> Iterator[tuple[str, LabelEntry]]:
    with open_data(path) as stream:
        lines = ((number, line) for number, line in text_lines(stream, str(path)) if line.strip())
        if ending == ".jsonl":
            for number, line in lines:
                where = f"{path}, line {number}"
                try:
                    row = json.loads(line)
                except (ValueError, RecursionError) as error:
                    raise DataError(f"{where}: not a JSON object ({error})") from None
                if not isinstance(row, dict):
                    raise DataError(f"{where}: a JSON object was expected, not {type(row).__name__}")
                yield where, _entry(row, where)
            return
        rows = csv.DictReader((line for _, line in lines), delimiter="\t" if ending == ".tsv" else ",")
        try:
            for number, row in enumerate(rows, 2):
                where = f"{path}, row {number}"
                if None in row:
                    raise DataError(f"{where}: there are more cells than columns")
                yield where, _entry(row, where)
        except csv.Error as error:
            raise DataError(f"{path}: not a CSV file that can be read ({error})") from None


def _entry(row: Mapping[str, Any], where: str) -> LabelEntry:
    label = row.get("label")
    if isinstance(label, int) and not isinstance(label, bool):
        label = str(label)
    if not isinstance(label, str) or not label:
        raise DataError(f"{where}: there is no 'label'; give the label as rows carry it")
    several = {}
    for field in _LISTS:
        value = row.get(field) or []
        value = value.split(_MORE) if isinstance(value, str) else value
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise DataError(f"{where}: {field!r} must be a list of strings, or strings with {_MORE} between")
        several[field] = tuple(filter(None, map(str.strip, value)))
    single = {field: row.get(field) or "" for field in ("name", "description")}
    if wrong := next((field for field, value in single.items() if not isinstance(value, str)), None):
        raise DataError(f"{where}: {wrong!r} must be a string")
    return LabelEntry(
        label, single["name"] or label, several["alternatives"], single["description"], several["parents"]
    )


def _of_skos(path: Path, kind: str, carried: set[str]) -> Iterator[tuple[str, LabelEntry]]:
    try:
        from rdflib import Graph
        from rdflib.namespace import RDF, SKOS
    except ImportError as error:
        raise MissingExtra(f"to read {path.name}", "skos") from error
    with open_data(path) as stream:
        data = stream.read(_MOST_SKOS_BYTES + 1)
    if len(data) > _MOST_SKOS_BYTES:
        raise DataError(f"{path}: more than {_MOST_SKOS_BYTES:,} bytes of SKOS")
    if kind == "xml" and b"<!ENTITY" in data:  # a few of these can stand for gigabytes, or for other files
        raise DataError(f"{path}: declares XML entities; write the vocabulary without them, or as Turtle")
    try:
        graph = Graph().parse(data=data, format=kind)
    except Exception as error:  # every format has errors of its own
        raise DataError(f"{path}: not {kind} that can be read ({str(error).splitlines()[0][:200]})") from None

    def texts(concept: Any, *properties: Any) -> list[str]:
        return sorted({str(value) for which in properties for value in graph.objects(concept, which)})

    concepts = sorted(set(graph.subjects(RDF.type, SKOS.Concept)) | set(graph.subjects(SKOS.prefLabel)), key=str)
    names = {concept: texts(concept, SKOS.prefLabel) for concept in concepts}
    called = {
        "notation": {c: texts(c, SKOS.notation)[:1] for c in concepts},
        "name": {c: [n for n in names[c] if n in carried][:1] or names[c][:1] for c in concepts},
        "address": {c: [str(c)] for c in concepts},
    }
    best = max(
        called, key=lambda which: sum(bool(carried.intersection(names_of)) for names_of in called[which].values())
    )
    for concept in concepts:
        if not called[best][concept]:
            continue
        broader = [name for above in graph.objects(concept, SKOS.broader) for name in names.get(above, [])]
        described = texts(concept, SKOS.definition, SKOS.scopeNote)
        label, names_of = called[best][concept][0], names[concept]
        alternatives = (*names_of[1:], *texts(concept, SKOS.altLabel, SKOS.hiddenLabel))
        yield str(path), LabelEntry(label, (names_of or [label])[0], alternatives, " ".join(described), tuple(broader))
