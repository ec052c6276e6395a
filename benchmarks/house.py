"""A map of the house: each package with its files and lines, what it imports, and how much two doors pull in.

    python benchmarks/house.py [--source src/rankae] [--out docs/results/house.md]

Prints the map, and with --out writes it there. A door is a module that a reader enters by; its closure is every module
of the package that it imports, directly or not.
To compare with an earlier state: git worktree add /tmp/then COMMIT, then --source /tmp/then/src/rankae.
"""

from __future__ import annotations

import argparse
import ast
from pathlib import Path

from measuring.places import REPOSITORY
from rankae.report.grids import Grid, to_markdown

# A name of each door before and after the house was moved into.
DOORS = {
    "RankAE": ("methods/rank_ae.py", "estimator.py"),
    "the paper's loop": ("paper/joint.py", "training/joint.py"),
}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--source", type=Path, default=REPOSITORY / "src" / "rankae")
    options.add_argument("--out", type=Path, help="a Markdown file; by default the terminal")
    chosen = options.parse_args()
    text = to_markdown("The map of the source", [packages(chosen.source), doors(chosen.source)], "By `make map`.")
    if chosen.out is None:
        print(text)
    else:
        chosen.out.write_text(text)


def packages(source: Path) -> Grid:
    lines, files_in_all, lines_in_all = [], 0, 0
    imports = imports_of(source)
    for package in sorted({package_of(path, source) for path in source.rglob("*.py")}):
        files = [path for path in source.rglob("*.py") if package_of(path, source) == package]
        count = sum(len(path.read_text().splitlines()) for path in files)
        own = {package_of(path, source) for file in files for path in imports[file]} - {package}
        lines.append([package, str(len(files)), f"{count:,}", ", ".join(sorted(own)) or "-"])
        files_in_all, lines_in_all = files_in_all + len(files), lines_in_all + count
    lines.append(["in all", str(files_in_all), f"{lines_in_all:,}", ""])
    return Grid("Packages", ["package", "files", "lines", "imports"], lines, set())


def doors(source: Path) -> Grid:
    imports, lines = imports_of(source), []
    for name, places in DOORS.items():
        door = next((source / place for place in places if (source / place).is_file()), None)
        if door is None:
            continue
        seen, waiting = {door}, [door]
        while waiting:
            for path in imports[waiting.pop()] - seen:
                seen.add(path)
                waiting.append(path)
        count = sum(len(path.read_text().splitlines()) for path in seen)
        lines.append([name, str(door.relative_to(source)), str(len(seen)), f"{count:,}"])
    return Grid("What one must read at most", ["door", "file", "modules imported", "lines"], lines, set())


def package_of(path: Path, source: Path) -> str:
    parts = path.relative_to(source).parts
    return parts[0] + "/" if len(parts) > 1 else parts[0]


def imports_of(source: Path) -> dict[Path, set[Path]]:
    """Of each module, the modules of the package that it imports when it is itself imported."""
    found: dict[Path, set[Path]] = {}
    for path in source.rglob("*.py"):
        names = set()
        for node in _at_import(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module:
                names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
            elif isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
        found[path] = {place for name in names if (place := _place(name, source)) is not None and place != path}
    return found


def _at_import(tree: ast.AST) -> list[ast.AST]:
    """Nodes outside functions and outside `if TYPE_CHECKING`."""
    nodes, waiting = [], [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        nodes.append(node)
        waiting += ast.iter_child_nodes(node)
    return nodes


def _place(name: str, source: Path) -> Path | None:
    head, *parts = name.split(".")
    if head != "rankae" or not parts:
        return None
    module = source.joinpath(*parts)
    for path in (module.with_suffix(".py"), module / "__init__.py"):
        if path.is_file():
            return path
    return None


if __name__ == "__main__":
    main()
