"""JSONL, CSV/TSV, fastText lines and Parquet: rows and labels come out; bad rows are named with their line."""

from __future__ import annotations

import io
import json
import sys

import pytest

from rankae.data import iter_batches, load_dataset
from rankae.errors import DataError


@pytest.fixture
def read(tmp_path):
    def read(content: bytes | str, name: str, **options):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return load_dataset(path, **options)

    return read


def rows_of(data):
    return [(t, [data.label_names[j] for j in row.indices]) for t, row in zip(data.texts, data.labels, strict=True)]


def test_jsonl(read):
    data = read('{"text": "a b", "labels": ["y", "x"]}\n\n{"text": "", "labels": [], "id": 3}\r\n', "rows.jsonl")
    assert rows_of(data) == [("a b", ["x", "y"]), ("", [])]


def test_jsonl_other_fields_and_numbers_as_labels(read):
    data = read('{"body": "a", "tags": 7}\n', "rows.jsonl", text_column="body", label_column="tags")
    assert rows_of(data) == [("a", ["7"])]


def test_jsonl_features(read):
    data = read('{"features": {"3": 0.5}, "labels": ["x"]}\n', "rows.jsonl")
    assert data.features.shape == (1, 4)
    assert data.features[0, 3] == 0.5


def test_a_list_of_strings_is_a_text_of_one_line(read):
    """A first line that more follow would be taken for a title."""
    data = read('{"text": ["olive oil", "salt"], "labels": ["x"]}\n{"text": [], "labels": ["x"]}\n', "recipes.jsonl")
    assert data.texts == ["olive oil, salt", ""]


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ('{"text": "a"}', "there is no 'labels'"),
        ('{"labels": []}', "there is no 'text'"),
        ('{"text": 3, "labels": []}', "'text' must be a string or a list of strings, not int"),
        ('{"text": ["a", 3], "labels": []}', "'text' must be a string or a list of strings, not list"),
        ('{"text": "a", "labels": [null]}', "None in 'labels' is no label"),
        ('{"text": "a", "labels": [{}]}', "is no label"),
        ('["a"]', "a JSON object was expected, not list"),
        ('{"text": "a", ', "not a JSON object"),
        ("[" * 100_000, "not a JSON object"),
        ('{"features": {"-1": 1}, "labels": []}', "'-1' is not a feature number"),
        ('{"features": {"1": NaN}, "labels": []}', "feature 1: nan is not a finite number"),
        ('{"features": {"1": 1e39}, "labels": []}', "too large"),
        ('{"features": {"1": 1, "01": 1}, "labels": []}', "is given twice"),
    ],
)
def test_a_bad_json_line_is_refused_with_its_line(read, line, complaint):
    with pytest.raises(DataError, match=r"rows\.jsonl, line 2: ") as caught:
        read('{"text": "a", "labels": []}\n' + line + "\n", "rows.jsonl")
    assert complaint in str(caught.value)


def test_broken_utf8_is_refused_with_its_line(read):
    with pytest.raises(DataError, match="line 2: not valid UTF-8 at byte 11"):
        read(b'{"text": "a", "labels": []}\n{"text": "\xff", "labels": []}\n', "rows.jsonl")


def test_texts_and_features_do_not_mix(read):
    with pytest.raises(DataError, match="a data set holds one kind"):
        read('{"text": "a", "labels": []}\n{"features": {}, "labels": []}\n', "rows.jsonl")


def test_csv_with_quotes_and_a_guessed_separator(read):
    data = read('id,text,labels\n1,"a, ""b""\nc",x; y\n2,d,\n', "rows.csv")
    assert rows_of(data) == [('a, "b"\nc', ["x", "y"]), ("d", [])]


def test_tsv_with_chosen_columns(read):
    options = {"text_column": "title,body", "label_column": "topic", "label_separator": "/"}
    data = read("title\tbody\ttopic\nA\tb\tx/y\n", "rows.tsv", **options)
    assert rows_of(data) == [("A\nb", ["x", "y"])]


def test_csv_mistakes(read):
    with pytest.raises(DataError, match=r"line 1: there is no column 'text' or 'document' among a, labels"):
        read("a,labels\n1,2\n", "rows.csv")
    with pytest.raises(DataError, match=r"line 1: there is no column 'topics'"):
        read("text,labels\n1,2\n", "rows.csv", label_column="topics")
    with pytest.raises(DataError, match=r"line 3: 3 cells under 2 columns"):
        read("text,labels\n1,2\n1,2,3\n", "rows.csv")
    with pytest.raises(DataError, match=r"rows\.csv, line 2: "):
        read('text,labels\n"1,2\n', "rows.csv")


def test_fasttext_by_ending_and_by_first_line(read):
    content = "__label__x __label__y good film\nno label here\n"
    expected = [("good film", ["x", "y"]), ("no label here", [])]
    assert rows_of(read(content, "rows.ft")) == expected
    assert rows_of(read(content, "rows.txt")) == expected


def test_fasttext_without_any_label_is_refused(read):
    with pytest.raises(DataError, match="no word begins with __label__"):
        read("just text\n", "rows.ft")


def test_parquet(tmp_path):
    pyarrow = pytest.importorskip("pyarrow", reason="needs the extra 'parquet'")
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs the extra 'parquet'")
    table = pyarrow.table({"text": ["a", "b"], "labels": [["x", "y"], []]})
    parquet.write_table(table, tmp_path / "rows.parquet")
    assert rows_of(load_dataset(tmp_path / "rows.parquet")) == [("a", ["x", "y"]), ("b", [])]
    with pytest.raises(DataError, match="no column 'topics'"):
        load_dataset(tmp_path / "rows.parquet", label_column="topics")
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 not really")
    with pytest.raises(DataError, match="not a readable Parquet file"):
        load_dataset(tmp_path / "bad.parquet")


def test_an_unknown_option_and_an_unknown_ending_are_user_errors(read):
    with pytest.raises(DataError, match="jsonl has no option 'colour'"):
        read(json.dumps({"text": "a", "labels": []}), "rows.jsonl", colour="red")
    with pytest.raises(DataError, match="cannot tell the format from the name"):
        read("a", "rows.doc")


def test_an_array_of_objects_is_read_as_its_lines_would_be(tmp_path):
    path = tmp_path / "rows.json"
    for indent in (None, 2):
        path.write_text(json.dumps([{"text": "a", "labels": ["x"]}, {"text": "b", "labels": []}], indent=indent))
        data = load_dataset(path)
        assert (data.texts, data.label_names) == (["a", "b"], ["x"])
    for content, told in [
        ('[{"text": "a", "labels": []}, {"text": 3, "labels": []}]', "row 2: 'text' must be a string"),
        ('[{"text": "a", "labels": []},', "begins as a JSON array, but is none"),
        ('[{"text": "a", "text": "b"}]', "the field 'text' is given twice"),
        ('{"text": {"0": "a"}, "labels": {"0": ["x"]}}', "to_json\\(orient='records', lines=True"),
    ]:
        path.write_text(content)
        with pytest.raises(DataError, match=told):
            load_dataset(path)


def test_an_array_of_objects_from_a_pipe_is_no_plain_text(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'[{"text": "a"}, {"text": "b"}]\n')))
    (batch,) = iter_batches("-")
    assert batch.texts == ["a", "b"]
