"""The packages and the direction of imports between them: downwards only (docs/architecture.md)."""

from __future__ import annotations

import ast
from pathlib import Path

import rankae

SOURCE = Path(rankae.__file__).parent
# From top to bottom: a package imports from the layers below its own only.
LAYERS = [
    {"__main__"},
    {"cli"},
    {"serve"},
    {"experiments"},
    {"audit"},
    {"cluster", "explain"},
    {"methods"},
    {"losses", "recipe", "rivals"},
    {"components"},
    {"paper"},
    {"base", "report"},
    {"metrics"},
    {"data"},
    {"model_file", "numerics"},
    {"progress"},
    {"errors"},
]
HEIGHT = {package: len(LAYERS) - floor for floor, packages in enumerate(LAYERS) for package in packages}


def imports_between_packages() -> set[tuple[str, str, str]]:
    """(file, its package, the package that it imports from)."""
    found = set()
    for path in SOURCE.rglob("*.py"):
        place = path.relative_to(SOURCE)
        package = place.parts[0] if len(place.parts) > 1 else place.stem
        if package == "__init__":  # the public names, which stand above everything
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = []
            if isinstance(node, ast.ImportFrom) and node.module:
                inside = [alias.name for alias in node.names] if node.module == "rankae" else [""]
                names = [f"{node.module}.{name}" for name in inside]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            for name in names:
                parts = name.split(".")
                if parts[0] == "rankae" and len(parts) > 1 and parts[1] in HEIGHT and parts[1] != package:
                    found.add((str(place), package, parts[1]))
    return found


def test_every_package_has_a_layer():
    packages = {
        p.name if p.is_dir() else p.stem for p in SOURCE.iterdir() if p.suffix == ".py" or (p / "__init__.py").is_file()
    }
    assert packages - {"__init__"} <= set(HEIGHT)


def test_imports_go_downwards_only():
    upwards = sorted(
        f"{file} imports rankae.{to}"
        for file, package, to in imports_between_packages()
        if HEIGHT[to] >= HEIGHT[package]
    )
    assert not upwards
