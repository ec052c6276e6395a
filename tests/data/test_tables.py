"""Tables as people bring them: label cells of every kind, columns of 0 and 1, workbooks, and what is wrong in them."""

from __future__ import annotations

import csv
import zipfile

import pytest

from rankae.data import iter_batches, load_dataset
from rankae.data.formats import xlsx
from rankae.errors import DataError

HEADER = ["id", "title", "body", "tags"]


@pytest.fixture
def table(tmp_path):
    """A CSV file of `rows` under a header."""

    def written(rows, header=HEADER):
        with open(tmp_path / "rows.csv", "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([header, *rows])
        return tmp_path / "rows.csv"

    return written


def labels_of(path, **options) -> list[list[str]]:
    data = load_dataset(path, **options)
    ends = zip(data.labels.indptr[:-1], data.labels.indptr[1:], strict=True)
    return [[data.label_names[j] for j in data.labels.indices[a:b]] for a, b in ends]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["{'a', 'b'}", "set()", "{'c'}"], [["a", "b"], [], ["c"]]),
        (["['a' 'b']", "['c']", "[]"], [["a", "b"], ["c"], []]),  # NumPy's print; Python would read 'ab'
        (["['a one'\n 'b']", "[\"it's\" 'c']"], [["a one", "b"], ["c", "it's"]]),
        (['"R;D";fruit', "x"], [["R;D", "fruit"], ["x"]]),
        (['5" disk;tape', "x"], [['5" disk', "tape"], ["x"]]),
        (['"quoted" word;tape', "x"], [['"quoted" word', "tape"], ["x"]]),
    ],
)
def test_cells_of_labels(table, cells, expected):
    assert labels_of(table([(i, "t", "b", cell) for i, cell in enumerate(cells)])) == expected


def test_a_mark_in_few_cells_stands_within_a_label(table):
    rows = [(i, "t", "b", "food,fruit") for i in range(30)] + [(30, "t", "b", "rock|pop")]
    assert labels_of(table(rows))[-1] == ["rock|pop"]
    # But a mark that only some cells need stands between labels, even where names hold a later one.
    rows = [(i, "t", "b", "Science, tech") for i in range(30)] + [(i, "t", "b", "Science, tech;Food") for i in range(9)]
    assert labels_of(table(rows))[-1] == ["Food", "Science, tech"]


def test_columns_of_0_and_1_are_labels(table):
    rows = [("1", "a", "1", "0", ""), ("2", "b", "1.0", "True", "0"), ("3", "c", "no", "0", "NaN")]
    path = table(rows, ["id", "text", "toxic", "rude", "odd"])
    assert labels_of(path, label_column="toxic,rude,odd") == [["toxic"], ["rude", "toxic"], []]
    assert "a label each from toxic,rude,odd" in load_dataset(path, label_column="toxic,rude,odd").reading.describe()
    with pytest.raises(DataError, match="no column 'rood'"):
        load_dataset(path, label_column="toxic,rood")
    table([("1", "a", "maybe", "0", "")], ["id", "text", "toxic", "rude", "odd"])
    with pytest.raises(DataError, match="line 2: 'maybe' under 'toxic', where 1 or 0"):
        load_dataset(path, label_column="toxic,rude")


def test_names_of_columns_may_have_blanks_around_them(table):
    path = table([("1", "a", "b", "x")], [" id", " title ", "body ", " tags"])
    data = load_dataset(path, text_column="title", id_column="id")
    assert (data.texts, data.ids, data.label_names) == (["a"], ["1"], ["x"])


def test_the_line_in_which_excel_says_what_stands_between_cells(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("sep=;\ntext;labels\na;x\n")
    assert labels_of(path) == [["x"]]
    path.write_text("sep=;\ntext;labels\na;x;y\n")
    with pytest.raises(DataError, match="line 3: 3 cells under 2 columns"):
        load_dataset(path)


def test_what_is_wrong_is_said_in_words(tmp_path):
    path = tmp_path / "rows.csv"
    for content, told in [
        ('text,labels\na,x\n"b,y\nc,z\n', "line 3: a cell in quotation marks begins in this row and never ends"),
        ("text,labels\ra,x\rb,y\r", "line 1: lines end with a carriage return alone"),
        ('text,labels\n"a "b" c",x\n', "line 2: .*must be written twice"),
        ("a,b\nc,d\n", "the first line must name the columns"),
    ]:
        path.write_bytes(content.encode())
        with pytest.raises(DataError, match=told):
            load_dataset(path)


@pytest.fixture
def workbook(tmp_path):
    openpyxl = pytest.importorskip("openpyxl", reason="needs the extra 'xlsx'")

    def written(rows):
        book = openpyxl.Workbook()
        for row in rows:
            book.active.append(row)
        book.save(tmp_path / "rows.xlsx")
        return tmp_path / "rows.xlsx"

    return written


def test_a_workbook_is_read_as_its_csv_would_be(workbook):
    path = workbook(
        [HEADER, [7, "Äpfel", "red\ngreen", "fruit;food"], [8.0, None, "white", None], [], [9, "t", 3, "x"]]
    )
    data = load_dataset(path)
    assert (data.ids, data.texts) == (["7", "8", "9"], ["Äpfel\nred\ngreen", "\nwhite", "t\n3"])
    assert labels_of(path) == [["food", "fruit"], [], ["x"]]
    (batch,) = iter_batches(path, reading=data.reading.for_other_files(), labels=False)
    assert batch.texts == data.texts


def test_a_workbook_that_does_not_fit_or_is_none(workbook, tmp_path):
    with pytest.raises(DataError, match="line 2: 5 cells under 4 columns"):
        load_dataset(workbook([HEADER, [1, "a", "b", "c", "d"]]))
    with pytest.raises(DataError, match="no column 'labels' among text"):
        load_dataset(workbook([["text"], ["a"]]))
    with pytest.raises(DataError, match="no rows"):
        load_dataset(workbook([HEADER]))
    sound = workbook([HEADER, [1, "a", "b", "c"]]).read_bytes()
    for content in (b"no workbook", sound[:-200], sound[:300] + bytes(200) + sound[500:]):
        (tmp_path / "broken.xlsx").write_bytes(content)
        with pytest.raises(DataError, match=r"broken.xlsx: not a readable .xlsx workbook"):
            load_dataset(tmp_path / "broken.xlsx")
    with zipfile.ZipFile(tmp_path / "other.xlsx", "w") as packed:
        packed.writestr("a.txt", "no workbook")
    with pytest.raises(DataError, match="not a readable"):
        load_dataset(tmp_path / "other.xlsx")


def test_a_workbook_of_one_long_text_in_many_cells_is_a_bomb(workbook, monkeypatch):
    monkeypatch.setattr(xlsx, "FREE_BYTES", 1 << 20)
    monkeypatch.setattr(xlsx, "MOST_RATIO", 2)
    path = workbook([HEADER, *([i, "a" * 30_000, "b" * 30_000, "x"] for i in range(50))])
    with pytest.raises(DataError, match="decompression bomb"):
        load_dataset(path)
