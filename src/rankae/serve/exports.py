"""Export decisions as training data, and as the reviewed flags that `rankae audit apply` reads."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from typing import Any

from rankae.report.formulas import FORMULA_SIGNS, escape_formula
from rankae.serve.store import Decision, Store

COLUMNS = ("text", "labels", "rejected", "by", "at", "model", "decision")
_SEPARATOR = ";"


def training_lines(store: Store, format: str, done: bool = True) -> Iterator[bytes]:
    """The last word on each text: {"text", "labels", "rejected", "by", "at", "model", "decision"}, `train` reads it."""
    decisions = store.latest(done)
    if format == "jsonl":
        for decision in decisions:
            yield json.dumps(_record(decision), ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"
        return
    records = [_record(decision) for decision in decisions]
    names = (name for record in records for name in [*record["labels"], *record["rejected"]])
    as_lists = any(_SEPARATOR in name or name.startswith(FORMULA_SIGNS) for name in names)  # ["a", "b;c"], read as well
    yield _csv_line(COLUMNS)
    for record in records:
        yield _csv_line([_cell(record[name], as_lists) for name in COLUMNS])


def flag_lines(store: Store, format: str = "jsonl") -> Iterator[bytes]:
    """Every reviewed flag of an audit with `decision`, "accept" or "reject": the latest one for each flag."""
    last: dict[tuple[Any, ...], Decision] = {}
    for decision in store.all():
        flag = decision.about.get("flag")
        if isinstance(flag, dict):
            last[decision.document, flag.get("row"), flag.get("label"), flag.get("kind")] = decision
    for decision in last.values():
        if not decision.is_empty:
            outcome = {"decision": "reject" if decision.rejected else "accept", "by": decision.by, "at": decision.at}
            yield json.dumps(decision.about["flag"] | outcome, ensure_ascii=False).encode() + b"\n"


def conflict_lines(store: Store) -> Iterator[bytes]:
    """Texts on which people disagree: {"text", "verdicts": [{"by", "at", "labels", "rejected"}]}, the last one wins."""
    for verdicts in store.conflicts():
        decided = [{"by": v.by, "at": v.at, "labels": v.labels, "rejected": v.rejected} for v in verdicts]
        yield json.dumps({"text": verdicts[-1].text, "verdicts": decided}, ensure_ascii=False).encode() + b"\n"


def _record(decision: Decision) -> dict[str, Any]:
    kept = {key: value for key, value in decision.about.items() if key not in ("upload", "place", "flag", *COLUMNS)}
    return {
        "text": decision.text,
        "labels": decision.labels,
        "rejected": decision.rejected,
        "by": decision.by,
        "at": decision.at,
        "model": decision.model,
        "decision": decision.number,
        **kept,
    }


def _cell(value: Any, as_lists: bool) -> Any:
    if isinstance(value, list):
        value = json.dumps(value, ensure_ascii=False) if as_lists else _SEPARATOR.join(value)
    return escape_formula(value)


def _csv_line(cells: Any) -> bytes:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(cells)
    return line.getvalue().encode("utf-8", "replace")
