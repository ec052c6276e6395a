"""Reading settings: what is found by its usual name, what a model's files must have, what is said of it."""

from __future__ import annotations

import pytest

from rankae.data import iter_batches, load_dataset
from rankae.data.reading import ReadingSettings
from rankae.errors import DataError

ARTICLES = "id,title,body,tags\n7,Apples,Red and green,fruit;food\n8,Wine,White or red,drink\n"


@pytest.fixture
def file(tmp_path):
    def file(content: str, name: str = "rows.csv"):
        (tmp_path / name).write_text(content, encoding="utf-8")
        return tmp_path / name

    return file


def labels_of(data):
    return [[data.label_names[j] for j in row.indices] for row in data.labels]


def test_title_body_tags_and_id_are_found_by_their_names(file):
    data = load_dataset(file(ARTICLES))
    assert data.texts == ["Apples\nRed and green", "Wine\nWhite or red"]
    assert labels_of(data) == [["food", "fruit"], ["drink"]]
    assert data.ids == ["7", "8"]
    assert data.take([1]).ids == ["8"]
    assert data.reading.describe() == "text from title, body; labels from tags, separated by ';'; id from id"


def test_names_of_columns_in_any_case(file):
    data = load_dataset(file("ID,Text,Labels\n1,a b,x\n"))
    assert (data.texts, labels_of(data), data.ids) == (["a b"], [["x"]], ["1"])


def test_what_was_read_is_read_again_whatever_the_usual_names_say(file):
    kept = load_dataset(file(ARTICLES), text_column="body", label_column="tags").reading
    again = ReadingSettings.from_json(kept.to_json())
    assert load_dataset(file(ARTICLES), reading=again).texts == ["Red and green", "White or red"]
    assert [batch.texts for batch in iter_batches(file(ARTICLES), reading=again)] == [["Red and green", "White or red"]]


def test_a_file_that_does_not_fit_is_refused_with_both_lists_of_columns(file):
    of_model = ReadingSettings.from_json(load_dataset(file(ARTICLES)).reading.to_json())
    for name, content in (("b.csv", "id,body\n1,a\n"), ("b.jsonl", '{"id": 1, "body": "a"}\n')):
        with pytest.raises(DataError, match="reads its text from title, body, but the columns here are id, body"):
            list(iter_batches(file(content, name), reading=of_model))
        (batch,) = iter_batches(file(content, name), reading=of_model, text_column="body")
        assert batch.texts == ["a"]
    with pytest.raises(DataError, match="reads its label from tags, but the columns here are title, body, labels"):
        load_dataset(file("title,body,labels\na,b,c\n", "c.csv"), reading=of_model)


@pytest.mark.parametrize("mark", [";", "\t", "|"])
def test_the_delimiter_is_found_in_the_header(file, mark):
    data = load_dataset(file(ARTICLES.replace(";", "/").replace(",", mark)), label_separator="/")
    assert data.texts == ["Apples\nRed and green", "Wine\nWhite or red"]
    assert data.reading.delimiter == mark


def test_a_semicolon_csv_with_commas_between_labels(file):
    data = load_dataset(file('id;text;labels\n1;"a; b";x,y\n2;1,5 apples;y\n'))
    assert data.texts == ["a; b", "1,5 apples"]
    assert labels_of(data) == [["x", "y"], ["y"]]
    assert load_dataset(file("a\tb\nc\td\n", "t.csv"), text_column="a", label_column="b").texts == ["c"]


@pytest.mark.parametrize("cells", [("['fruit', 'food']", "['drink']"), ('["fruit", "food"]', '["drink"]')])
def test_cells_that_pandas_writes_for_lists(file, cells):
    quoted = ['"' + cell.replace('"', '""') + '"' for cell in cells]
    data = load_dataset(file(f"text,labels\na,{quoted[0]}\nb,{quoted[1]}\nc,[]\nd,\ne,NaN\n"))
    assert labels_of(data) == [["food", "fruit"], ["drink"], [], [], []]
    assert data.reading.label_separator == "list"


def test_a_damaged_list_is_told_with_its_line(file):
    with pytest.raises(DataError, match=r"rows\.csv, line 3: .* is no list of labels"):
        load_dataset(file("""text,labels\na,"['x', 'y']"\nb,"['x', 'y"\n"""), label_separator="list")


def test_nan_is_no_label_and_no_text(file):
    data = load_dataset(file("title,body,labels\nA,NaN,NaN\nB,b,x\n"))
    assert (data.texts, data.label_names) == (["A\n", "B\nb"], ["x"])
    lines = '{"text": "a", "labels": NaN}\n{"text": "b", "labels": null}\n{"text": "c", "labels": "x;y"}\n'
    assert labels_of(load_dataset(file(lines, "rows.jsonl"))) == [[], [], ["x", "y"]]


def test_a_field_that_is_given_twice_is_refused(file):
    with pytest.raises(DataError, match="line 1: the field 'labels' is given twice"):
        load_dataset(file('{"text": "a", "labels": ["x"], "labels": ["y"]}\n', "rows.jsonl"))
    with pytest.raises(DataError, match="two columns are called 'text'"):
        load_dataset(file("text,text,labels\na,b,x\n"))


def test_json_lines_with_a_title(file):
    lines = '{"title": "A", "body": "a", "tags": ["x"], "id": 3}\n{"title": null, "body": "b", "tags": []}\n'
    data = load_dataset(file(lines, "rows.jsonl"))
    assert (data.texts, data.ids) == (["A\na", "\nb"], [3, None])
    with pytest.raises(DataError, match="line 2: there is no 'title'"):
        load_dataset(file(lines.replace('"title": null, ', ""), "rows.jsonl"))


def test_standard_input_with_the_models_columns_is_a_table(monkeypatch):
    import io
    import sys

    of_model = ReadingSettings(text_columns=("title", "body"), of_model=True)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(ARTICLES.encode())))
    assert next(iter(iter_batches("-", reading=of_model))).texts[0] == "Apples\nRed and green"


def test_what_a_forged_model_says_is_not_taken():
    for forged in (None, 3, {"text_columns": 3}, {"text_columns": [1]}, {"delimiter": ["x"]}):
        assert ReadingSettings.from_json(forged) is None


def test_what_an_old_spreadsheet_saves_is_read_in_the_encoding_that_is_said(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes("text;labels\nÄpfel;Käse\n".encode("cp1252"))
    with pytest.raises(DataError, match=r"not valid UTF-8 .*in Excel: CSV UTF-8.*--encoding windows-1252"):
        load_dataset(path)
    data = load_dataset(path, encoding="windows-1252")
    assert (data.texts, data.label_names) == (["Äpfel"], ["Käse"])
    # It is the file's, and no matter of a model's: the next file may be UTF-8.
    path.write_text("text;labels\nÄpfel;Käse\n", encoding="utf-8")
    assert load_dataset(path, reading=data.reading.for_other_files()).texts == ["Äpfel"]
    with pytest.raises(DataError, match="no encoding 'cp12520'"):
        load_dataset(path, encoding="cp12520")
    with pytest.raises(DataError, match="near line 1: not valid ascii"):
        load_dataset(path, encoding="ascii")


def test_utf_16_is_known_by_its_mark(tmp_path, monkeypatch):
    import io
    import sys

    content = "text\tlabels\nÄpfel\tKäse\nBirnen\tObst\n".encode("utf-16")
    (tmp_path / "rows.tsv").write_bytes(content)
    assert load_dataset(tmp_path / "rows.tsv").texts == ["Äpfel", "Birnen"]
    (tmp_path / "rows.jsonl").write_bytes('{"text": "Äpfel", "labels": []}'.encode("utf-16"))
    assert load_dataset(tmp_path / "rows.jsonl").texts == ["Äpfel"]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    (batch,) = iter_batches("-", reading=ReadingSettings(text_columns=("text",), of_model=True), labels=False)
    assert batch.texts == ["Äpfel", "Birnen"]


def test_a_table_from_a_pipe_that_lacks_a_column_of_the_model_is_no_plain_text(monkeypatch):
    import io
    import sys

    of_model = ReadingSettings(text_columns=("title", "body"), of_model=True)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"id,titel,body\n1,Apples,Red\n")))
    with pytest.raises(DataError, match="from title, body, but the columns here are id, titel, body"):
        list(iter_batches("-", reading=of_model, labels=False))


def test_for_prediction_labels_are_not_looked_at(file):
    for name, content in (
        ("a.jsonl", '{"text": "a", "labels": [null, {}]}\n'),
        ("a.csv", "text,labels\na,\"['x', 'y\"\n"),
    ):
        path = file(content, name)
        (batch,) = iter_batches(path, labels=False)
        assert (batch.texts, batch.n_labels) == (["a"], 0)
        with pytest.raises(DataError, match="line [12]: "):
            list(iter_batches(path, label_separator="list"))


def test_a_folder_in_place_of_a_file_is_one_sentence(tmp_path):
    with pytest.raises(DataError, match="is a folder, where a file is expected"):
        list(iter_batches(tmp_path, format="csv"))
