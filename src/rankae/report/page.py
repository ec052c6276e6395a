"""Self-contained HTML pages with sortable tables and plots; they load nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from rankae.report.grids import Grid

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #222; background: #fff; max-width: 1280px; margin: 2rem auto;
       padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .6rem; border-bottom: 1px solid #ddd; text-align: right; white-space: nowrap; }
th { white-space: normal; vertical-align: bottom; } th.name, td.name, td.words { text-align: left; }
td.words { white-space: normal; }
th button { all: unset; cursor: pointer; font-weight: 600; } th button:focus-visible { outline: 2px solid #0072B2; }
th[aria-sort=ascending] button::after { content: " ▲"; } th[aria-sort=descending] button::after { content: " ▼"; }
tbody tr:hover { background: #f3f7fb; } td.best { font-weight: 700; }
.plots { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 440px), 1fr)); gap: 1rem; }
.plots svg { width: 100%; max-width: 640px; height: auto; }
p.note { color: #444; max-width: 75ch; }
"""

# Numbers sort as numbers ("-" always last), everything else as text.
SCRIPT = """
for (const table of document.querySelectorAll("table.sorts")) {
  table.querySelectorAll("th button").forEach((button, column) => button.addEventListener("click", () => {
    const head = button.parentElement, down = head.getAttribute("aria-sort") === "descending";
    table.querySelectorAll("th").forEach(other => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", down ? "ascending" : "descending");
    const value = row => row.cells[column].textContent, number = row => parseFloat(value(row).replace(/,/g, ""));
    const rows = [...table.tBodies[0].rows].sort((a, b) => {
      const x = number(a), y = number(b);
      if (isNaN(x) !== isNaN(y)) return isNaN(x) ? 1 : -1;
      const order = isNaN(x) ? value(a).localeCompare(value(b)) : x - y;
      return down ? order : -order;
    });
    table.tBodies[0].append(...rows);
  }));
}
"""


def html_page(title: str, sections: Sequence[str], style: str = "", script: str = SCRIPT) -> str:
    """A page of HTML sections; data in them must be escaped already."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}{style}</style>\n</head>\n<body>\n<h1>{escape(title)}</h1>\n"
        + "\n".join(sections)
        + f"\n<script>{script}</script>\n</body>\n</html>\n"
    )


def html_note(text: str) -> str:
    return f'<p class="note">{escape(text)}</p>'


def html_table(grid: Grid) -> str:
    kinds = ["name" if j < grid.names else "figure" for j in range(len(grid.head))]
    head = "".join(
        f'<th scope="col" class="{kind}"><button type="button">{escape(name)}</button></th>'
        for kind, name in zip(kinds, grid.head, strict=True)
    )
    body = []
    for i, line in enumerate(grid.lines):
        cells = "".join(f"<td{_class(grid, i, j, text)}>{escape(text)}</td>" for j, text in enumerate(line))
        body.append(f"<tr>{cells}</tr>")
    return (
        f'<h2>{escape(grid.title)}</h2>\n<div class="scroll"><table class="sorts"><thead><tr>{head}</tr></thead>\n'
        f"<tbody>{''.join(body)}</tbody></table></div>"
    )


def html_plots(title: str, plots: Sequence[str]) -> str:
    return f'<h2>{escape(title)}</h2>\n<div class="plots">{"".join(plots)}</div>'


def _class(grid: Grid, line: int, column: int, text: str) -> str:
    if column < grid.names:
        return ' class="name"'
    if (line, column) in grid.bold:
        return ' class="best"'
    return ' class="words"' if len(text) > 40 else ""
