"""The table of rules: each has a reason, and says which run found it or that none did."""

import ast
from pathlib import Path

from rankae.recipe import rules


def test_every_rule_has_a_reason_and_a_run():
    assert len(rules.RULES) > 30
    assert all(one.reason and one.run for one in rules.RULES.values())
    lines = rules.table().splitlines()
    assert len(lines) == len(rules.RULES)
    assert any(line.startswith("many_labels") and "4000" in line and "debdeps" in line for line in lines)


def test_no_rule_stands_without_being_read():
    package = Path(rules.__file__).parent
    source = "".join(path.read_text() for path in package.glob("*.py") if path.name != "rules.py")
    tree = ast.parse(Path(rules.__file__).read_text())
    names = [node.targets[0].id for node in tree.body if isinstance(node, ast.Assign) and node.targets[0].id.isupper()]
    unread = [name for name in names if not name.startswith("_") and f"rules.{name}" not in source]
    assert not unread
