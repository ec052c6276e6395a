"""Files that say what labels are called."""

from __future__ import annotations

import pytest

from rankae.data.label_file import read_label_file
from rankae.data.label_names import LabelEntry
from rankae.errors import DataError

WHOLE = LabelEntry("c12", "sea fish", ("marine fish", "saltwater fish"), "Fish of the sea.", ("animals",))


def test_jsonl_and_csv_say_the_same(tmp_path):
    (tmp_path / "l.jsonl").write_text(
        '{"label": "c12", "name": "sea fish", "alternatives": ["marine fish", "saltwater fish"], '
        '"description": "Fish of the sea.", "parents": ["animals"]}\n{"label": 7}\n'
    )
    (tmp_path / "l.csv").write_text(
        "label,name,alternatives,description,parents\n"
        "c12,sea fish,marine fish|saltwater fish,Fish of the sea.,animals\n"
        "7,,,,\n"
    )
    for name in ("l.jsonl", "l.csv"):
        assert read_label_file(tmp_path / name) == [WHOLE, LabelEntry("7", "7")]


SKOS = """
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
<http://e.org/animals> a skos:Concept ; skos:prefLabel "animals"@en .
<http://e.org/fish> a skos:Concept ; skos:prefLabel "sea fish"@en ; skos:altLabel "marine fish", "saltwater fish" ;
    skos:definition "Fish of the sea." ; skos:notation "c12" ; skos:broader <http://e.org/animals> .
"""


def test_a_vocabulary_in_skos_is_known_by_what_rows_carry(tmp_path):
    pytest.importorskip("rdflib")
    (tmp_path / "v.ttl").write_text(SKOS)
    assert read_label_file(tmp_path / "v.ttl", ["c12"]) == [WHOLE]
    by_name = read_label_file(tmp_path / "v.ttl", ["sea fish", "animals"])
    assert {entry.label for entry in by_name} == {"sea fish", "animals"}
    by_address = read_label_file(tmp_path / "v.ttl", ["http://e.org/fish"])
    assert [entry.name for entry in by_address] == ["animals", "sea fish"]
    (tmp_path / "v.rdf").write_text('<!DOCTYPE a [<!ENTITY b "c">]><a/>')
    with pytest.raises(DataError, match="XML entities"):
        read_label_file(tmp_path / "v.rdf")
    (tmp_path / "v.ttl").write_text("<a")
    with pytest.raises(DataError, match="not turtle"):
        read_label_file(tmp_path / "v.ttl")


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("l.jsonl", "[1]\n", "JSON object was expected"),
        ("l.jsonl", "{\n", "line 1: not a JSON object"),
        ("l.jsonl", '{"name": "a"}\n', "there is no 'label'"),
        ("l.jsonl", '{"label": "a", "parents": 3}\n', "'parents' must be a list"),
        ("l.jsonl", '{"label": "a", "name": 3}\n', "'name' must be a string"),
        ("l.jsonl", '{"label": "a"}\n{"label": "a"}\n', "line 2: the label 'a' is listed twice"),
        ("l.jsonl", "\n", "no labels"),
        ("l.csv", "label,name\na,b,c\n", "more cells than columns"),
        ("l.txt", "a\n", "labels are read from"),
    ],
)
def test_a_mistake_is_one_sentence(tmp_path, name, text, why):
    (tmp_path / name).write_text(text)
    with pytest.raises(DataError, match=why):
        read_label_file(tmp_path / name)
