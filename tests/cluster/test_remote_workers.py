"""Shards on workers that are processes of their own: the same result, finished work kept, faults survived."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from rankae import RankAE
from rankae.cluster import ClusterWorkers, connected, predicted
from rankae.cluster.files import open_checked, write_once
from rankae.data import make_dataset
from rankae.errors import RankaeError
from rankae.numerics.shards import even_spans, sharing

pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with connected("local:2") as found:
        yield found


def numbers() -> np.ndarray:
    return np.arange(12, dtype=np.float32)


def test_training_gives_the_same_model(client, tmp_path):
    data = make_dataset(rows=600, labels=80, features=500, test_rows=50, text=False)
    train, test = data
    alone = RankAE("fast", threads=1).fit_dataset(train)
    workers = ClusterWorkers(client, tmp_path, least=0)
    with sharing(workers):
        shared = RankAE("fast", threads=1).fit_dataset(train)
    for own, other in zip(alone.predict_top(test.features, 10), shared.predict_top(test.features, 10), strict=True):
        np.testing.assert_array_equal(own, other)
    steps = workers.summary()
    assert set(steps["seconds"]) == {"ridge", "neighbours", "rankers"}
    assert len(steps["workers"]) == 2

    again = ClusterWorkers(client, tmp_path, least=0)
    with sharing(again):
        RankAE("fast", threads=1).fit_dataset(train)
    assert (again.computed, again.found) == (0, workers.computed)


def test_prediction_is_in_order_and_goes_on(client, tmp_path):
    train, test = make_dataset(rows=200, labels=20, test_rows=60)
    model = RankAE("fast").fit_dataset(train)
    model.save(tmp_path / "model")
    batches = [test.take(slice(a, b)) for a, b in even_spans(60, 7)]
    workers = ClusterWorkers(client, tmp_path / "work")
    found = list(predicted(workers, tmp_path / "model", iter(batches), model.matching, 3))
    expected = [model.top_columns(batch.texts, 3) for batch in batches]
    for (rows, columns, scores), own, batch in zip(found, expected, batches, strict=True):
        assert rows is batch
        np.testing.assert_array_equal(columns, own[0])
        np.testing.assert_allclose(scores, own[1], rtol=1e-5)
    again = ClusterWorkers(client, tmp_path / "work")
    assert len(list(predicted(again, tmp_path / "model", iter(batches), model.matching, 3))) == 7
    assert (again.computed, again.found) == (0, 7)


def test_a_damaged_result_is_made_again(client, tmp_path):
    train, _ = make_dataset(rows=300, labels=30, features=300, text=False)

    def fit() -> ClusterWorkers:
        workers = ClusterWorkers(client, tmp_path, least=0)
        with sharing(workers):
            RankAE("fast", threads=1).fit_dataset(train)
        return workers

    first = fit()
    one, two, *_ = sorted((tmp_path / "shards").glob("rankers-*.safetensors"))
    one.write_bytes(one.read_bytes()[:-10])
    two.write_bytes(two.read_bytes()[:-4] + b"\0\1\2\3")
    second = fit()
    assert second.computed == 2
    assert second.found == first.computed - 2


def test_inputs_are_written_once_and_checked(tmp_path):
    matrix = sp.random(50, 20, 0.2, "csr", np.float32, rng=np.random.default_rng(0))
    record = write_once(tmp_path, {"rows": matrix, "more": numbers()})
    before = Path(record["path"]).stat().st_mtime_ns
    assert write_once(tmp_path, {"more": numbers(), "rows": matrix})["path"] == record["path"]
    assert Path(record["path"]).stat().st_mtime_ns == before
    opened = open_checked(record)
    assert (opened["rows"] != matrix).nnz == 0
    np.testing.assert_array_equal(opened["more"], numbers())
    Path(record["path"]).write_bytes(b"short")
    with pytest.raises(RankaeError, match="cut short"):
        open_checked(record)
    assert write_once(tmp_path, {"rows": matrix, "more": numbers()})["path"] == record["path"]
    open_checked(record)


@pytest.mark.parametrize("address", ["local:0", "local", "local:many", "local:99999"])
def test_addresses_that_mean_nothing(address):
    with pytest.raises(RankaeError, match="local:N"), connected(address):
        pass
