"""The rooms of the house and the direction of imports between them: downwards only (docs/architecture.md)."""

from __future__ import annotations

import ast
from pathlib import Path

import rankae

SOURCE = Path(rankae.__file__).parent
# From the top of the house to its foundation: a room may import from the rooms below its own storey, and from no other.
STOREYS = [
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
HEIGHT = {room: len(STOREYS) - floor for floor, rooms in enumerate(STOREYS) for room in rooms}


def imports_between_rooms() -> set[tuple[str, str, str]]:
    """(file, its room, the room that it imports from)."""
    found = set()
    for path in SOURCE.rglob("*.py"):
        place = path.relative_to(SOURCE)
        room = place.parts[0] if len(place.parts) > 1 else place.stem
        if room == "__init__":  # the public names, which stand above everything
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
                if parts[0] == "rankae" and len(parts) > 1 and parts[1] in HEIGHT and parts[1] != room:
                    found.add((str(place), room, parts[1]))
    return found


def test_every_room_has_a_storey():
    rooms = {
        p.name if p.is_dir() else p.stem for p in SOURCE.iterdir() if p.suffix == ".py" or (p / "__init__.py").is_file()
    }
    assert rooms - {"__init__"} <= set(HEIGHT)


def test_imports_go_downwards_only():
    upwards = sorted(
        f"{file} imports rankae.{to}" for file, room, to in imports_between_rooms() if HEIGHT[to] >= HEIGHT[room]
    )
    assert not upwards
