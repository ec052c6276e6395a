"""Type-ahead: beginnings first, then words, then anywhere; frequent labels first among equals."""

from __future__ import annotations

import numpy as np

from rankae.serve.labels import LabelSearch

NAMES = ["river bank", "banking", "Bänke", "embankment", "tree", "bank", "two\nlines"]
COUNTS = np.array([9, 5, 7, 8, 100, 1, 2])


def found(typed: str, most: int = 10) -> list[str]:
    return [NAMES[i] for i in LabelSearch(NAMES, COUNTS).find(typed, most)]


def test_order():
    assert found("bank") == ["Bänke", "banking", "bank", "river bank", "embankment"]


def test_case_accents_and_lines():
    assert found("BÄNKE") == ["Bänke"]
    assert found("banke") == ["Bänke"]
    assert found("two lines") == ["two\nlines"]


def test_nothing_typed_gives_the_most_frequent():
    assert found("", 2) == ["tree", "river bank"]


def test_nothing_found():
    assert found("zebra") == []
    assert LabelSearch([], np.array([])).find("a") == []
