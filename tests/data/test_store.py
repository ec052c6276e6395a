"""A mapped store: what went in comes out, piece by piece or at once, and damage is found."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from rankae.cli.data import app
from rankae.data import load_dataset, make_dataset, write_dataset
from rankae.data.batches import iter_batches
from rankae.data.formats.store import write_pieces
from rankae.data.generate_like import write_like
from rankae.data.shapes import shape_of
from rankae.errors import DataError


@pytest.fixture(scope="module")
def data():
    return make_dataset(rows=120, labels=15, features=90, test_rows=10, text=False)[0]


@pytest.fixture
def store(data, tmp_path):
    write_dataset(data, tmp_path / "train.store")
    return tmp_path / "train.store"


def test_a_data_set_comes_back(data, store):
    again = load_dataset(store)
    assert (again.features != data.features).nnz == 0
    assert (again.labels != data.labels).nnz == 0
    assert again.label_names == data.label_names
    assert again.feature_names == data.feature_names
    assert isinstance(again.features.data.base, np.memmap) or again.features.data.base is not None
    assert [len(batch) for batch in iter_batches(store, batch=50)] == [50, 50, 20]


def test_pieces_make_the_same_file(data, store, tmp_path):
    pieces = [data.take(slice(a, a + 33)) for a in range(0, 120, 33)]
    with (tmp_path / "pieces.store").open("wb") as stream:
        names = data.label_names, data.feature_names
        assert write_pieces(iter(pieces), stream, data.n_features, data.n_labels, *names) == 120
    assert (tmp_path / "pieces.store").read_bytes() == store.read_bytes()


def test_convert_streams_xmc_text(tmp_path):
    write_like(shape_of("amazon-670k").scaled(0.0005), tmp_path / "made")
    ran = CliRunner().invoke(app, ["convert", str(tmp_path / "made"), str(tmp_path / "train.store"), "--json"])
    assert json.loads(ran.stdout)["rows"] == 245
    text, mapped = load_dataset(tmp_path / "made"), load_dataset(tmp_path / "train.store")
    assert (text.features != mapped.features).nnz == 0
    assert (text.labels != mapped.labels).nnz == 0
    assert text.label_names == mapped.label_names


@pytest.mark.parametrize("damage", ["cut", "changed", "header", "empty", "text"])
def test_damage_is_one_sentence(store, damage):
    whole = store.read_bytes()
    changed = {
        "cut": whole[:-9],
        "changed": whole[:-3] + bytes([whole[-3] ^ 1]) + whole[-2:],
        "header": whole[:20] + b"}" + whole[21:],
        "empty": b"",
        "text": b"1,2 3:0.5\n" * 20,
    }
    store.write_bytes(changed[damage])
    with pytest.raises(DataError, match=r"train\.store: "):
        load_dataset(store)


def test_texts_and_compression_are_refused(tmp_path):
    texts, _ = make_dataset(rows=20, labels=3)
    with pytest.raises(DataError, match="raw text"):
        write_dataset(texts, tmp_path / "train.store")
    write_like(shape_of("amazon-670k").scaled(0.0001), tmp_path / "made")
    with pytest.raises(DataError, match="cannot be compressed"):
        CliRunner().invoke(
            app, ["convert", str(tmp_path / "made"), str(tmp_path / "train.store.gz")], catch_exceptions=False
        )
