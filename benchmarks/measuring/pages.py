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


def put_rows(page: Path, name: str, head: str, rows: list[str]) -> None:
    """Put a table between the marks, sorted by its first two cells.

    Rows of the page stay if `rows` has none with the same first two cells, so that the figures of a run whose cells are
    no longer at hand are kept.
    """
    old = page.read_text().partition(f"<!-- {name} -->")[2].partition(f"<!-- end of {name} -->")[0]
    kept, new = _by_first_two(old.strip().splitlines()[2:]), _by_first_two(rows)
    groups = kept | new
    body = [row for key in sorted(groups) for row in groups[key]]
    put_between(page, name, "\n".join([head, "|---" * (head.count("|") - 1) + "|", *body]))


def _by_first_two(rows: list[str]) -> dict[tuple[str, ...], list[str]]:
    groups: dict[tuple[str, ...], list[str]] = {}
    for row in rows:
        if row.startswith("|"):
            groups.setdefault(tuple(cell.strip() for cell in row.split("|")[1:3]), []).append(row)
    return groups
