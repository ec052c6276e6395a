"""The audit as one HTML page that stands alone: tables that sort, flags that filter, words that are highlighted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from typing import Any

from rankae.audit.report import AuditReport, Flag
from rankae.report.grids import Grid
from rankae.report.page import SCRIPT, html_note, html_page, html_table

_MOST_FLAGS = 1000  # of both kinds together: a browser sorts so many without a pause
_MOST_LINES = 200  # of each of the other tables
_MOST_TEXT = 600  # characters of a row's text

STYLE = """
.tiles { display: flex; flex-wrap: wrap; gap: .8rem; margin: 1rem 0; }
.tiles div { border: 1px solid #ddd; border-radius: 6px; padding: .5rem .9rem; min-width: 9rem; }
.tiles b { display: block; font-size: 1.25rem; }
form.filter { display: flex; flex-wrap: wrap; gap: .6rem; align-items: center; margin: .8rem 0;
  position: sticky; top: 0; background: #fff; padding: .4rem 0; border-bottom: 1px solid #ddd; z-index: 1; }
form.filter input, form.filter select { font: inherit; padding: .25rem .4rem; max-width: 100%; }
table.flags th { text-align: left; }
table.flags td { vertical-align: top; white-space: normal; text-align: left; }
table.flags td.figure { text-align: right; }
table.flags td.text { min-width: 22rem; max-width: 46rem; overflow-wrap: anywhere; }
.kind { border-radius: 4px; padding: 0 .4rem; white-space: nowrap; }
.kind.missing { background: #dcebf7; } .kind.wrong { background: #fbe3d6; }
mark { background: #ffe9a8; padding: 0 .1em; } .small { color: #555; font-size: .85rem; }
details summary { cursor: pointer; color: #0072B2; }
@media (max-width: 700px) {
  body { margin: 1rem auto; }
  .tiles { gap: .4rem; } .tiles div { flex: 1 0 auto; min-width: 5rem; padding: .3rem .6rem; }
  form.filter { flex-wrap: nowrap; align-items: end; } form.filter label { flex: 1; min-width: 0; }
  form.filter input, form.filter select { width: 100%; box-sizing: border-box; } #shown { width: min-content; }
  table.flags thead { display: none; }
  table.flags, table.flags tbody, table.flags tr, table.flags td { display: block; min-width: 0; }
  table.flags tr[hidden] { display: none; } table.flags tr { border-bottom: 2px solid #ccc; padding: .5rem 0; }
  table.flags td { border: 0; padding: .1rem .5rem .1rem 0; }
  table.flags td:nth-child(-n+4) { display: inline-block; overflow-wrap: anywhere; }
  table.flags td.figure { text-align: left; } table.flags td.text { min-width: 0; }
  table.flags td[data-name=row]::before { content: "row "; color: #555; }
}
"""

FILTER = """
const form = document.querySelector("form.filter");
if (form) {
  const rows = [...document.querySelectorAll("table.flags tbody tr")], shown = document.getElementById("shown");
  const filter = () => {
    const plain = field => field.value.trim().toLowerCase();
    const kind = form.kind.value, label = plain(form.label), word = plain(form.word);
    let count = 0;
    for (const row of rows) {
      const fits = (!kind || row.dataset.kind === kind) && row.dataset.label.includes(label)
        && (!word || row.textContent.toLowerCase().includes(word));
      row.hidden = !fits; count += fits;
    }
    shown.textContent = count + " of " + rows.length;
  };
  form.addEventListener("input", filter); form.addEventListener("submit", event => event.preventDefault()); filter();
}
"""


def audit_page(report: AuditReport) -> str:
    sections = [_tiles(report), html_note(_HOW_TO_READ), _flags(report)]
    sections += [
        _table(f"Noisiest labels ({len(report.label_rates):,} with enough rows)", report.label_records()),
        _table("Same or nearly the same text, different labels", _by_id(report)),
        _table("Labels that are probably the same, or imply one another", report.relation_records()),
        _table("Labels that nobody can predict", report.unpredictable_records()),
    ]
    return html_page(f"Label audit of {report.data}", [s for s in sections if s], STYLE, SCRIPT + FILTER)


_HOW_TO_READ = (
    "Probabilities come from models that have not seen the row's labels, nor those of its near-duplicates. Rates are "
    "upper bounds: rows that no model can predict count as noise. Highlighted words speak for the label."
)


def _tiles(report: AuditReport) -> str:
    def share(rate: Any) -> str:
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
    head = "".join(
        f'<th scope="col"><button type="button">{name}</button></th>'
        for name in ("probability", "kind", "label", "row", "text", "nearest rows")
    )
    body = "".join(_flag_row(flag, report) for flag in flags)
    left = f" The {len(flags):,} most probable of {len(report.flags):,}." if len(flags) < len(report.flags) else ""
    return (
        f"<h2>Flags</h2><p class=note>Each is a label that is probably missing or wrong.{left}</p>"
        '<section><form class="filter"><label>kind <select name="kind"><option value="">both</option>'
        "<option>missing</option><option>wrong</option></select></label>"
        '<label>label <input name="label" size="18"></label><label>word <input name="word" size="14"></label>'
        '<span id="shown" class="small"></span></form>'
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
    carried = f'<div class="small">carries: {escape(", ".join(flag.labels))}</div>'
    text = _highlighted(flag.text, flag.words) if flag.text else f"<mark>{escape(', '.join(flag.words))}</mark>"
    return (
        f'<tr data-kind="{flag.kind}" data-label="{escape(flag.label.lower(), quote=True)}">'
        f'<td class="figure">{flag.probability:.3f}</td>'
        f'<td><span class="kind {flag.kind}">{flag.kind}</span></td><td>{escape(flag.label)}</td>'
        f'<td class="figure" data-name="row">{escape(str(flag.id))}</td>'
        f'<td class="text">{text}{carried}</td><td>{nearest}</td></tr>'
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


def _by_id(report: AuditReport) -> list[dict[str, Any]]:
    """Alike rows by their ids, if they have ids."""
    hidden = ("id", "other_id") if report.ids is None else ("row", "other")
    return [{k: v for k, v in record.items() if k not in hidden} for record in report.conflict_records()]


def _cell(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "-"
    return f"{value:g}" if isinstance(value, float) else str(value)
