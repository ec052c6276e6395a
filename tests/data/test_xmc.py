"""XMC text and LibSVM: what is read, what is refused and with which sentence."""

from __future__ import annotations

import gzip
import lzma

import numpy as np
import pytest

from rankae.data import load_dataset
from rankae.errors import DataError


@pytest.fixture
def read(tmp_path):
    def read(content: bytes | str, name: str = "rows.txt", **options):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return load_dataset(path, **options)

    return read


def rows_of(data):
    labels = [sorted(row.indices.tolist()) for row in data.labels]
    features = [dict(zip(row.indices.tolist(), row.data.tolist(), strict=True)) for row in data.features]
    return labels, features


def test_header_and_rows(read):
    data = read("3 5 4\n0,3 1:0.5 4:-2\n 0:1e-3\n2 \n")
    assert (len(data), data.n_features, data.n_labels) == (3, 5, 4)
    labels, features = rows_of(data)
    assert labels == [[0, 3], [], [2]]
    assert features[0] == {1: 0.5, 4: -2.0}
    assert features[1] == {0: np.float32(1e-3)}
    assert features[2] == {}
    assert data.features.dtype == data.labels.dtype == np.float32


def test_without_a_header_the_widest_row_counts(read):
    data = read("1 0:1\n0,7 9:1\n")
    assert (data.n_features, data.n_labels) == (10, 8)


def test_without_a_header_counts_may_be_given(read):
    data = read("1 0:1\n", n_features=12, n_labels=3)
    assert (data.n_features, data.n_labels) == (12, 3)


@pytest.mark.parametrize(
    "content", ["1 4 2\r\n1 3:1\r\n", "\ufeff1 4 2\n1 3:1\n", "1 4 2\n1 3:1", "1 4 2\n1\t3:1 \n\n"]
)
def test_crlf_byte_order_mark_and_a_missing_last_line_end_are_accepted(read, content):
    labels, features = rows_of(read(content))
    assert labels == [[1]]
    assert features == [{3: 1.0}]


def test_unsorted_features_are_sorted_and_repeated_labels_count_once(read):
    data = read("1 9 3\n2,1,2 7:1 3:2\n")
    assert data.features.indices.tolist() == [3, 7]
    assert data.features.data.tolist() == [2.0, 1.0]
    assert rows_of(data)[0] == [[1, 2]]
    assert data.labels.data.tolist() == [1.0, 1.0]


def test_a_row_may_begin_with_its_features(read):
    assert rows_of(read("2:1 3:1\n1 0:1\n")) == ([[], [1]], [{2: 1.0, 3: 1.0}, {0: 1.0}])


def test_libsvm_comments(read):
    data = read("1,2 1:0.5 # first\n# nothing\n0 2:1\n", "rows.svm")
    assert rows_of(data) == ([[1, 2], [0]], [{1: 0.5}, {2: 1.0}])


@pytest.mark.parametrize(
    ("row", "complaint"),
    [
        ("0 1:nan", "'1:nan' is not a finite number"),
        ("0 1:inf", "is not a finite number"),
        ("0 1:1e39", "is not a finite number"),
        ("0 1:", "is not a finite number"),
        ("0 1:0x10", "is not a finite number"),
        ("0 1:1e", "is not a finite number"),
        ("0 1:.", "is not a finite number"),
        ("0 -1:1", "'-1:1' is not a pair feature:value"),
        ("0 one:1", "'one:1' is not a pair feature:value"),
        ("0 1", "'1' is not a pair feature:value"),
        ("0 5:1", "out of range, the features are 0 to 4"),
        ("0 99999999999999999999999:1", "out of range"),
        ("3 1:1", "out of range, the labels are 0 to 2"),
        ("99999999999999999999999 1:1", "out of range"),
        ("-1 1:1", "'-1' is not a list of label numbers"),
        ("a,b 1:1", "'a,b' is not a list of label numbers"),
        ("0, 1:1", "is not a list of label numbers"),
        ("0 1:1 2:1 1:3", "feature 1 is given twice"),
        ("\xff\xfe 1:1", "is not a list of label numbers"),
    ],
)
def test_a_bad_row_is_refused_with_its_line(read, row, complaint):
    with pytest.raises(DataError, match=r"rows\.txt, line 3: ") as caught:
        read(b"2 5 3\n1 1:1\n" + row.encode("latin-1") + b"\n")
    assert complaint in str(caught.value)
    assert "\n" not in str(caught.value)


def test_equal_features_at_the_border_of_two_rows_are_no_duplicate(read):
    assert rows_of(read("0 3:1\n0 3:2\n"))[1] == [{3: 1.0}, {3: 2.0}]


@pytest.mark.parametrize("promised", [1, 3])
def test_a_wrong_row_count_is_refused(read, promised):
    with pytest.raises(DataError, match=f"promises {promised} rows, but there are 2"):
        read(f"{promised} 5 3\n0 1:1\n1 1:1\n")


def test_an_absurd_header_is_refused(read):
    with pytest.raises(DataError, match="line 1: the header promises more than"):
        read("1 999999999999 3\n0 1:1\n")


@pytest.mark.parametrize("name", ["rows.txt", "rows.jsonl", "rows.csv", "rows.svm"])
def test_an_empty_file_is_refused(read, name):
    with pytest.raises(DataError, match="the file is empty"):
        read("", name)


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(DataError, match="there is no such file"):
        load_dataset(tmp_path / "nothing.txt")


def test_lines_are_counted_across_chunks(read, monkeypatch):
    monkeypatch.setattr("rankae.data.formats.xmc.CHUNK", 32)
    with pytest.raises(DataError, match="line 101: "):
        read("100 5 3\n" + "0 1:1 2:1\n" * 99 + "0 1:bad\n")
    data = read("100 5 3\n" + "0 1:1 2:1\n" * 100)
    assert data.labels.nnz == 100
    assert data.features.nnz == 200


def test_numbers_are_read_as_python_reads_them(read):
    rng = np.random.default_rng(0)
    values = [
        f"{v:.{p}{k}}" for v in rng.normal(size=200) * 10.0 ** rng.integers(-30, 30, 200) for p in (3, 9) for k in "eg"
    ]
    values += ["0.1", ".5", "5.", "+3", "-0.0", "123456789012345678901234567890", "0.000000000000000000000000000001234"]
    data = read("0 " + " ".join(f"{i}:{v}" for i, v in enumerate(values)) + "\n")
    expected = np.array([np.float32(float(v)) for v in values])
    np.testing.assert_array_equal(data.features.toarray()[0], expected)


@pytest.mark.parametrize(("ending", "pack"), [(".gz", gzip.compress), (".xz", lzma.compress)])
def test_compressed_files(read, ending, pack):
    assert rows_of(read(pack(b"1 4 2\n1 3:1\n"), f"rows.txt{ending}")) == ([[1]], [{3: 1.0}])


@pytest.mark.parametrize(("ending", "pack"), [(".gz", gzip.compress), (".xz", lzma.compress)])
def test_a_cut_compressed_file_is_refused(read, ending, pack):
    packed = pack(b"1 4 2\n" + b"1 3:1\n" * 5000)
    with pytest.raises(DataError, match="damaged or cut short"):
        read(packed[: len(packed) // 2], f"rows.txt{ending}")


def test_a_gzip_bomb_is_refused(read, monkeypatch):
    monkeypatch.setattr("rankae.data.opening.FREE_BYTES", 1 << 20)
    with pytest.raises(DataError, match="decompression bomb"):
        read(gzip.compress(b"0 1:1\n" * 1_000_000), "rows.txt.gz")


@pytest.mark.parametrize("name", ["rows.txt.gz", "rows.jsonl.gz"])
def test_a_bomb_without_line_ends_is_refused(read, monkeypatch, name):
    monkeypatch.setattr("rankae.data.opening.MOST_LINE", 1 << 20)
    with pytest.raises(DataError, match="longer than 1 MiB"):
        read(gzip.compress(b"0" * 20_000_000), name)


def test_the_repositorys_split_files(tmp_path):
    (tmp_path / "Delicious_data.txt").write_text("3 4 2\n0 0:1\n1 1:1\n0,1 2:1\n")
    (tmp_path / "delicious_trSplit.txt").write_text("1 3\n3 2\n")
    (tmp_path / "delicious_tstSplit.txt").write_text("2 1\n")
    assert rows_of(load_dataset(tmp_path))[0] == [[0], [0, 1]]
    assert rows_of(load_dataset(tmp_path, "test"))[0] == [[1]]
    assert rows_of(load_dataset(tmp_path, split_column=1))[0] == [[0, 1], [1]]
    (tmp_path / "delicious_tstSplit.txt").write_text("4 1\n")
    with pytest.raises(DataError, match="line 1: '4' is not a row number from 1 to 3"):
        load_dataset(tmp_path, "test")
