"""The audit as one HTML page that stands alone: tables that sort, flags that filter, words that are highlighted."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from html import escape
from typing import Any

from rankae.audit.noise_rates import Rate
from rankae.audit.page_assets import SCRIPT as DECIDING
from rankae.audit.page_assets import STYLE
from rankae.audit.report import AuditReport, Flag
from rankae.report.grids import Grid
from rankae.report.page import SCRIPT, html_note, html_page, html_table

_MOST_FLAGS = 1000  # of both kinds together: a browser sorts so many without a pause
_MOST_LINES = 200  # of each of the other tables
_MOST_TEXT = 600  # characters of a row's text


def audit_page(report: AuditReport) -> str:
    sections = [_tiles(report), html_note(_HOW_TO_READ), _flags(report)]
    sections += [
        _table(f"Noisiest labels ({len(report.label_rates):,} with enough rows)", _rates(report)),
        _table("Same or nearly the same text, different labels", _by_id(report)),
        _table("Labels that are probably the same, or imply one another", report.relation_records()),
        _table("Labels that nobody can predict", report.unpredictable_records()),
    ]
    return html_page(f"Label audit of {report.data}", [s for s in sections if s], STYLE, SCRIPT + DECIDING)


_HOW_TO_READ = (
    "Each flag is a label that is probably missing or wrong, by models that have not seen the row's labels nor those "
    "of its near-duplicates, and by the row's other labels. Highlighted words speak for the label. Rates are upper "
    "bounds, and probabilities follow from them: what nobody can predict counts as noise."
)
_HOW_TO_DECIDE = (
    "Accept flags that are right, reject the others (keys a and r, arrows to move), save the decisions, then run "
    "<code>rankae audit apply decisions.jsonl DATA -o CLEANED</code>."
)


def _tiles(report: AuditReport) -> str:
    def share(rate: Rate) -> str:
        return f"{rate.value:.1%} <span class=small>({rate.low:.1%} to {rate.high:.1%})</span>"

    tiles = [
        ("rows", f"{report.rows:,}"),
        ("labels", f"{report.labels:,}"),
        ("recorded", f"{report.recorded:,}"),
        ("missing, of the right ones", share(report.noise.missing)),
        ("wrong, of the recorded ones", share(report.noise.wrong)),
    ]
    return f'<div class="tiles">{"".join(f"<div>{escape(name)}<b>{value}</b></div>" for name, value in tiles)}</div>'


def _flags(report: AuditReport) -> str:
    flags = _both_kinds(report.flags)
    columns = ("probability", "label", "text and recorded labels", "nearest rows", "decision")
    head = "".join(f'<th scope="col"><button type="button">{name}</button></th>' for name in columns)
    body = "".join(_flag_row(flag, report) for flag in flags)
    left = f"The {len(flags):,} most probable of {len(report.flags):,}. " if len(flags) < len(report.flags) else ""
    named = "".join(f"{flag.kind} {flag.row} {flag.label};" for flag in flags)  # decisions are kept by this audit
    key = f"rankae audit {zlib.crc32(named.encode('utf-8', 'replace')):x}"
    return (
        f'<h2>Flags</h2><p class="note">{left}{_HOW_TO_DECIDE}</p>'
        f'<section><form class="filter" data-key="{key}">'
        '<label>kind <select name="kind"><option value="">both</option>'
        "<option>missing</option><option>wrong</option></select></label>"
        '<label>decision <select name="decided"><option value="">all</option>'
        "<option>undecided</option><option>decided</option></select></label>"
        '<label>label <input name="label"></label><label>word <input name="word"></label>'
        '<div class="told"><span id="shown" class="small"></span>'
        '<button type="button" class="plain" id="save" disabled>Save decisions</button></div></form>'
        f'<div class="scroll"><table class="sorts flags"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
        "</div></section>"  # the form stays in sight as long as its table does
    )


def _both_kinds(flags: Sequence[Flag]) -> list[Flag]:
    """The most probable of each kind: one kind must not crowd the other out."""
    half = [flag for kind in ("missing", "wrong") for flag in [f for f in flags if f.kind == kind][: _MOST_FLAGS // 2]]
    return sorted(half, key=lambda flag: -flag.probability)


def _flag_row(flag: Flag, report: AuditReport) -> str:
    ids = report.ids
    near = "".join(
        f"<li>{escape(str(n['row'] if ids is None else ids[n['row']]))}: "
        f"{'carries it' if n['carries'] else 'lacks it'}, {n['cosine']:.2f}</li>"
        for n in flag.nearest
    )
    nearest = f"<details><summary>{len(flag.nearest)} rows</summary><ul>{near}</ul></details>" if near else ""
    carried = "".join(
        f"<span{' class=flagged' if name == flag.label else ''}>{escape(name)}</span>" for name in flag.labels
    )
    text = _highlighted(flag.text, flag.words) if flag.text else f"<mark>{escape(', '.join(flag.words))}</mark>"
    own_id, label = escape(str(flag.id), quote=True), escape(flag.label, quote=True)
    buttons = "".join(
        f'<button type="button" class="plain {made}" data-decision="{made}" aria-pressed="false">{made}</button>'
        for made in ("accept", "reject")
    )
    return (
        f'<tr tabindex="0" data-kind="{flag.kind}" data-name="{label}" data-row="{flag.row}" data-id="{own_id}">'
        f'<td class="p">{flag.probability:.3f}<span class="bar" style="--p:{flag.probability:.0%}"></span></td>'
        f'<td class="label"><span class="kind {flag.kind}">{flag.kind}</span><b>{label}</b>'
        f'<span class="small">row {own_id}</span></td>'
        f'<td class="text">{text}<div class="carried">{carried}</div></td><td>{nearest}</td>'
        f'<td class="decide">{buttons}</td></tr>'
    )


def _highlighted(text: str, words: Sequence[str]) -> str:
    """The text's beginning with the words marked, wherever they stand in it."""
    short = text if len(text) <= _MOST_TEXT else text[:_MOST_TEXT].rsplit(" ", 1)[0] + " …"
    if not words:
        return escape(short)
    pattern = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    parts, end = [], 0
    for match in re.finditer(rf"(?<!\w)(?:{pattern})(?!\w)", short, re.IGNORECASE):
        parts += [escape(short[end : match.start()]), f"<mark>{escape(match.group())}</mark>"]
        end = match.end()
    beyond = [word for word in words if not re.search(rf"(?<!\w){re.escape(word)}(?!\w)", short, re.IGNORECASE)]
    more = f' <span class="small">also: {escape(", ".join(beyond))}</span>' if beyond else ""
    return "".join([*parts, escape(short[end:])]) + more


def _table(title: str, records: Sequence[dict[str, Any]]) -> str:
    if not records:
        return f"<h2>{escape(title)}</h2>" + html_note("None were found.")
    head = list(records[0])
    lines = [[_cell(record[name]) for name in head] for record in records[:_MOST_LINES]]
    names = max(1, next((i for i, name in enumerate(head) if not isinstance(records[0][name], str)), len(head)))
    return html_table(Grid(title, [name.replace("_", " ") for name in head], lines, set(), names))


def _rates(report: AuditReport) -> list[dict[str, Any]]:
    """The records of labels with each rate and its interval in one cell."""

    def told(record: dict[str, Any], kind: str) -> str:
        return f"{record[kind]:.1%} ({record[f'{kind}_low']:.1%} to {record[f'{kind}_high']:.1%})"

    return [
        {"label": r["label"]} | {kind: told(r, kind) for kind in ("missing", "wrong")} for r in report.label_records()
    ]


def _by_id(report: AuditReport) -> list[dict[str, Any]]:
    """Alike rows by their ids, if they have ids."""
    hidden = ("id", "other_id") if report.ids is None else ("row", "other")
    return [{k: v for k, v in record.items() if k not in hidden} for record in report.conflict_records()]


def _cell(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "-"
    return f"{value:g}" if isinstance(value, float) else str(value)
