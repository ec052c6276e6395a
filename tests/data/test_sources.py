"""Finding data by folder, file or name; names of labels and features; what `data info` counts."""

from __future__ import annotations

import re

import pytest

from rankae.data import KNOWN, describe, load_dataset, splits_of
from rankae.data.info import histogram
from rankae.data.sources import find_source
from rankae.errors import DataError


@pytest.fixture(autouse=True)
def own_folders(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("RANKAE_DATA", raising=False)


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "train.txt").write_text("3 4 2\n0 0:1\n1 1:1\n 1:1\n")
    (folder / "test.txt").write_text("2 4 2\n0,1 1:1\n1 3:1\n")
    return folder


def test_a_folder_has_splits(folder):
    assert splits_of(folder) == ["train", "test"]
    assert (len(load_dataset(folder)), len(load_dataset(folder, "test"))) == (3, 2)
    assert load_dataset(folder).name == "mine"
    with pytest.raises(DataError, match="no 'dev' split; it has train, test"):
        load_dataset(folder, "dev")


def test_the_repositorys_file_names(folder):
    (folder / "train.txt").rename(folder / "eurlex_train.txt")
    (folder / "test.txt").rename(folder / "eurlex_test.txt")
    assert splits_of(folder) == ["train", "test"]


def test_two_files_for_one_split_are_refused(folder):
    (folder / "train.jsonl").write_text('{"text": "a", "labels": []}\n')
    with pytest.raises(DataError, match=r"both train\.jsonl and train\.txt could be the train split"):
        load_dataset(folder)


def test_a_folder_without_data_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"no train\.\* or test\.\* in a known format"):
        load_dataset(tmp_path)


def test_names_are_looked_up_in_both_folders(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("RANKAE_DATA", str(tmp_path))
    assert len(load_dataset("mine")) == 3
    (tmp_path / "cache").mkdir()
    folder.rename(tmp_path / "cache" / "rankae")
    (tmp_path / "cache" / "rankae").rename(tmp_path / "moved")
    (tmp_path / "cache" / "rankae").mkdir()
    (tmp_path / "moved").rename(tmp_path / "cache" / "rankae" / "bibtex")
    assert len(load_dataset("Bibtex")) == 3


def test_relative_paths_lead_into_the_data_folder_and_not_out_of_it(folder, tmp_path, monkeypatch):
    with pytest.raises(DataError, match=r"mine/train\.txt: there is no such file or folder"):
        find_source("mine/train.txt")
    monkeypatch.setenv("RANKAE_DATA", str(tmp_path))
    assert find_source("mine/train.txt") == folder / "train.txt"
    monkeypatch.setenv("RANKAE_DATA", str(tmp_path / "cache"))
    with pytest.raises(DataError, match="no such file or folder"):
        find_source("../mine/train.txt")


def test_a_known_name_that_is_not_here_says_how_to_get_it():
    with pytest.raises(DataError, match="rankae data fetch eurlex-4k"):
        load_dataset("eurlex-4k")
    with pytest.raises(DataError, match="tmdb-plots stands in for it"):
        load_dataset("imdb")
    with pytest.raises(DataError, match="there is no such file, folder or data set"):
        load_dataset("nothing-of-the-kind")


def test_labels_and_vocabulary_name_columns(folder):
    (folder / "labels.txt").write_text("c1\tred\nc2\tblue\n")
    (folder / "vocab.txt").write_text("a\nb\nc\nd\n")
    data = load_dataset(folder, "test")
    assert data.label_names == ["red", "blue"]
    assert data.feature_names == ["a", "b", "c", "d"]


def test_shared_names_are_told_apart_by_code(folder):
    (folder / "labels.txt").write_text("c1\tred\nc2\tred\n")
    assert load_dataset(folder).label_names == ["red (c1)", "red (c2)"]


def test_a_wrong_number_of_names_is_refused(folder):
    (folder / "labels.txt").write_text("red\n")
    with pytest.raises(DataError, match=r"labels\.txt: 1 names for 2 labels"):
        load_dataset(folder)


def test_codes_in_text_data_become_names_in_the_files_order(tmp_path):
    (tmp_path / "train.jsonl").write_text('{"text": "a", "labels": ["c2", "odd"]}\n')
    (tmp_path / "labels.txt").write_text("c2\tzebra\nc1\tant\n")
    data = load_dataset(tmp_path)
    assert data.label_names == ["zebra", "ant", "odd"]
    assert data.labels.toarray().tolist() == [[1, 0, 1]]


def test_describe_counts(folder):
    facts = describe(folder)
    assert facts["rows"] == {"train": 3, "test": 2}
    assert (facts["labels"], facts["features"]) == (2, 4)
    assert facts["cardinality"] == 1.0  # 5 labels on 5 rows
    assert facts["instances_per_label"] == 2.5
    assert facts["duplicates"] == {"train": 1, "test": 0}
    assert facts["also_in_train"] == {"test": 1}
    assert facts["rows_without_labels"] == {"train": 1, "test": 0}
    assert facts["label_frequency"] == {"0": 0, "1": 2}
    assert facts["differs"] == []


def test_describe_flags_counts_that_differ_from_the_published_ones(folder):
    facts = describe(folder.rename(folder.parent / "eurlex-4k"))
    assert "test has 2 rows, published are 3,809" in facts["differs"]
    assert "there are 2 labels, published are 3,993" in facts["differs"]
    assert "cardinality is 1.0, published is 5.31" in facts["differs"]


def test_histogram():
    import numpy as np

    assert histogram(np.array([0, 1, 1, 2, 3, 4, 9])) == {"0": 1, "1": 2, "2-3": 2, "4-7": 1, "8-15": 1}


def test_the_papers_six_are_known():
    paper = {known.title: known.test for known in KNOWN.values() if known.in_paper}
    assert paper == {
        "Delicious": 3_185,
        "Mediamill": 12_914,
        "RCV1-2K": 155_962,
        "IMDb": 6_740,
        "EURLex-4K": 3_809,
        "Wiki10-31K": 6_616,
    }


@pytest.mark.parametrize("name", ["bibtex", "delicious", "tmdb-plots"])
def test_real_data_has_the_published_counts(real_data, name):
    assert describe(str(real_data(name)))["differs"] == []


def test_a_second_training_file_is_not_left_out_silently(tmp_path):
    (tmp_path / "train.csv").write_text("text,labels\na,x\n")
    for name in ("train2.csv", "train-00001.csv", "train (1).csv"):
        (tmp_path / name).write_text("text,labels\nb,y\n")
        with pytest.raises(DataError, match=rf"{re.escape(name)} looks like a part of the train split"):
            load_dataset(tmp_path)
        (tmp_path / name).unlink()
    (tmp_path / "notes.csv").write_text("text,labels\nc,z\n")
    assert len(load_dataset(tmp_path)) == 1
    assert describe(tmp_path)["left_out"] == ["notes.csv"]


def test_a_folder_without_splits_tells_what_it_holds(tmp_path):
    with pytest.raises(DataError, match=r"there is no 'train' split; it has no train\.\* or test\.\*"):
        describe(tmp_path)
    (tmp_path / "articles.csv").write_text("text,labels\na,x\n")
    with pytest.raises(DataError, match=r"it holds articles\.csv: give one .*or call it train\.csv"):
        load_dataset(tmp_path)


def test_the_test_split_is_read_as_the_training_split_is(tmp_path):
    (tmp_path / "train.csv").write_text("text,labels\na,x;y\n")
    (tmp_path / "test.csv").write_text('text,labels\nb,"x, z"\n')
    assert describe(tmp_path)["labels_unseen_in_train"] == 1
