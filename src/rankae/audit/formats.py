"""Flags as files: JSON lines, CSV, and Label Studio's tasks; and decisions read back from any of them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rankae.audit.report import AuditReport, Flag
from rankae.data.opening import open_data
from rankae.data.writing import written
from rankae.errors import DataError
from rankae.report.formulas import escape_formula, unescape_formula

FORMATS = ("jsonl", "csv", "label-studio")
_COLUMNS = ("row", "id", "label", "kind", "probability", "recorded", "words", "nearest", "labels", "text", "decision")
_ACCEPT, _REJECT = {"accept", "accepted", "yes", "1", "true"}, {"reject", "rejected", "no", "0", "false"}
_MOST_BYTES = 2**30


def format_of_flags(path: Path, format: str | None) -> str:
    """The format by name, or by the file's ending."""
    if format is not None and format not in FORMATS:
        raise DataError(f"there is no format {format!r} of flags; choose {', '.join(FORMATS)}")
    by_ending = {".csv": "csv", ".json": "label-studio", ".jsonl": "jsonl", ".ndjson": "jsonl", "": "jsonl"}
    found = format or by_ending.get(path.suffix.lower())
    if found is None:
        raise DataError(f"{path}: flags are written as .jsonl, .csv or .json (Label Studio); or say --format")
    return found


def write_flags(path: Path, report: AuditReport, format: str) -> None:
    """The flags, the most probable first. For CSV there is a column `decision` to fill in."""
    writers: dict[str, Callable[[AuditReport], bytes]] = {"jsonl": _jsonl, "csv": _csv, "label-studio": _label_studio}
    with written(path) as stream:
        stream.write(writers[format](report))


def _jsonl(report: AuditReport) -> bytes:
    lines = (flag.record() | ({} if flag.text is None else {"text": flag.text}) for flag in report.flags)
    return "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines).encode("utf-8", "replace")


def _csv(report: AuditReport) -> bytes:
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(_COLUMNS)
    for flag in report.flags:
        line = flag.record() | {"text": flag.text or "", "decision": ""}
        line |= {"words": " ".join(flag.words), "labels": json.dumps(flag.labels, ensure_ascii=False)}
        line["nearest"] = " ".join(f"{n['row']}{'+' if n['carries'] else '-'}" for n in flag.nearest)
        table.writerow([escape_formula(line[name]) for name in _COLUMNS])
    return text.getvalue().encode("utf-8", "replace")


def _label_studio(report: AuditReport) -> bytes:
    """Tasks with one choice, `accept` or `reject`; Label Studio reads them as an import."""
    return json.dumps([_task(flag) for flag in report.flags], ensure_ascii=False, indent=1).encode("utf-8", "replace")


def _task(flag: Flag) -> dict[str, Any]:
    question = f"Is the label {flag.label!r} {flag.kind}?"
    return {"data": flag.record() | {"text": flag.text or " ".join(flag.words), "question": question}}


@dataclass(frozen=True)
class Decision:
    """Whether somebody accepts a flag; `where` names it in messages."""

    row: int
    id: Any
    label: str
    kind: str
    accept: bool
    where: str


def read_decisions(path: Path, least: float | None = None) -> list[Decision]:
    """Decided flags of a file that `write_flags` has written and somebody has filled in.

    least : flags that nobody has decided are accepted if they are at least this probable.
    """
    found = []
    for where, line in _lines(path):
        answer = _answer(line, where)
        if answer is None and least is not None:
            answer = _number(line, "probability", where) >= least
            if not answer:
                continue
        if answer is None:
            continue
        row = _number(line, "row", where)
        label, kind = line.get("label"), line.get("kind")
        if row != int(row) or not isinstance(label, str) or kind not in ("missing", "wrong"):
            raise DataError(
                f"{where}: a decision needs row, label and kind (missing or wrong), as the audit wrote them"
            )
        found.append(Decision(int(row), line.get("id"), label, kind, answer, where))
    return found


def _lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    with open_data(str(path)) as stream:
        content = stream.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise DataError(f"{path}: the file is larger than {_MOST_BYTES} bytes")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError(f"{path}: the file is not UTF-8 text") from None
    if text.lstrip()[:1] not in ("{", "["):
        lines = csv.DictReader(io.StringIO(text))
        if not {"row", "label", "kind"} <= set(lines.fieldnames or ()):
            raise DataError(f"{path}: not JSON lines, Label Studio's JSON, or CSV with columns row, label and kind")
        for number, cells in enumerate(lines, start=2):
            yield f"{path}, line {number}", cells | {"label": unescape_formula(cells["label"] or "")}
        return
    try:
        if text.lstrip()[:1] == "[":
            for number, task in enumerate(json.loads(text), start=1):
                yield f"{path}, task {number}", _of_task(task)
            return
        for number, line in enumerate(text.splitlines(), start=1):
            if line.strip():
                value = json.loads(line)
                if not isinstance(value, dict):
                    raise DataError(f"{path}, line {number}: there is no JSON object")
                yield f"{path}, line {number}", value
    except (json.JSONDecodeError, RecursionError) as error:
        raise DataError(f"{path}: not JSON lines or Label Studio's JSON ({error})") from None


def _of_task(task: Any) -> dict[str, Any]:
    """A Label Studio task: its data, and the choice of the last annotation that was not cancelled."""
    if not isinstance(task, dict) or not isinstance(task.get("data"), dict):
        raise DataError("a Label Studio task has no data; export as JSON")
    line = dict(task["data"])
    for annotation in task.get("annotations") or []:
        if not isinstance(annotation, dict) or annotation.get("was_cancelled"):
            continue
        for result in annotation.get("result") or []:
            choices = (result.get("value") or {}).get("choices") if isinstance(result, dict) else None
            if choices:
                line["decision"] = choices[0]
    return line


def _answer(line: dict[str, Any], where: str) -> bool | None:
    """Of a cell `decision`, or of cells called `accept` or `reject`."""
    given = line.get("decision")
    if given is None or given == "":
        for name, sign in (("accept", True), ("reject", False)):
            value = str(line.get(name) or "").strip().lower()
            if value in _ACCEPT or value == "x":
                return sign
            if value in _REJECT:
                return not sign
        return None
    word = str(given).strip().lower()
    if word in _ACCEPT:
        return True
    if word in _REJECT:
        return False
    raise DataError(f"{where}: the decision is {given!r}; it must be accept or reject")


def _number(line: dict[str, Any], name: str, where: str) -> float:
    try:
        return float(line.get(name))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise DataError(f"{where}: {name} is {line.get(name)!r}, which is not a number") from None
