"""Tables that a benchmark keeps up to date within a page that people write."""

from __future__ import annotations

from pathlib import Path

from rankae.experiments.compare import write_files


def put_between(page: Path, name: str, text: str) -> None:
    """Replace what stands between the marks `<!-- name -->` and `<!-- end of name -->`."""
    start, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    before, found, rest = page.read_text().partition(start)
    _, closed, after = rest.partition(end)
    if not (found and closed):
        raise SystemExit(f"{page} has no place for the table: {start} and {end}, each on a line of its own")
    write_files(page.parent, {page.name: f"{before}{start}\n{text.strip()}\n{end}{after}"})
