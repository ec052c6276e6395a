"""Tables of small numbers: what they hold, what loops read of them, and how they are stored."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numba import njit

from rankae.errors import ModelFileError, RankaeError
from rankae.numerics.inner_products import inner_products
from rankae.numerics.small_numbers import number
from rankae.numerics.sparse_product import sparse_product
from rankae.numerics.table import PRECISIONS, RaggedTable, Table, packed, unpacked
from rankae.numerics.top_k import top_k


@pytest.fixture(scope="module")
def values() -> np.ndarray:
    rows = np.random.default_rng(0).normal(0, 1, (60, 7)).astype(np.float32)
    rows[3] = 0
    return rows * np.logspace(-3, 2, 60, dtype=np.float32)[:, None]


@pytest.mark.parametrize(
    ("precision", "share", "size"), [("float32", 0, 4), ("float16", 2**-11, 2), ("int8", 1 / 254, 1)]
)
def test_rounding_costs_no_more_than_the_precision_says(values, precision, share, size):
    table = Table.at(precision, values)
    largest = np.abs(values).max(axis=1, keepdims=True)
    assert np.all(np.abs(np.asarray(table) - values) <= 1.01 * share * largest + 1e-7)
    assert table.values.nbytes == size * values.size
    np.testing.assert_array_equal(table[[5, 3]], np.asarray(table)[[5, 3]])


def test_every_float16_is_read_as_numpy_reads_it():
    halves = np.arange(2**16, dtype=np.uint16)
    halves = halves[np.isfinite(halves.view(np.float16))]
    read = njit(lambda bits: [number(x) for x in bits])
    np.testing.assert_array_equal(np.array(read(halves), np.float32), halves.view(np.float16).astype(np.float32))


@pytest.mark.parametrize("precision", PRECISIONS)
def test_loops_read_what_the_table_holds(values, precision):
    table, rng = Table.at(precision, values), np.random.default_rng(1)
    exact = np.asarray(table)
    rows = sp.random(5, 60, density=0.2, format="csr", dtype=np.float32, random_state=0)
    np.testing.assert_allclose(sparse_product(rows, table), rows @ exact, rtol=1e-4, atol=1e-4)
    codes, bias = rng.random((5, 7), np.float32), rng.random(60, np.float32)
    scores = codes @ exact.T + bias
    columns = np.tile(np.arange(60, dtype=np.int32), 5)
    found = inner_products(np.arange(6) * 60, columns, codes, table, bias).reshape(5, 60)
    np.testing.assert_allclose(found, scores, rtol=1e-4, atol=1e-4)
    for count in (1, 5):  # one row is read in another way than many
        best, values_of_best = top_k(codes[:count], table, bias, 9)
        np.testing.assert_array_equal(best, np.argsort(-scores[:count], axis=1, kind="stable")[:, :9])
        np.testing.assert_allclose(values_of_best, -np.sort(-scores[:count], axis=1)[:, :9], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("precision", ["float16", "int8"])
def test_packed_tables_are_unpacked(values, precision):
    table = Table.at(precision, values)
    arrays = packed({"table": table, "bias": values[0]})
    assert all(isinstance(value, np.ndarray) for value in arrays.values())
    again = unpacked(arrays)
    assert again.keys() == {"table", "bias"}
    np.testing.assert_array_equal(np.asarray(again["table"]), np.asarray(table))


def test_ragged_rows_have_a_scale_each():
    ragged = RaggedTable(np.array([0, 3, 3, 5]), np.array([1, -2, 0.5, 100, 30], np.float32)).at("int8")
    np.testing.assert_allclose(np.asarray(ragged), [1, -2, 0.5, 100, 30], atol=0.4)
    np.testing.assert_allclose(np.asarray(ragged)[:3], [1, -2, 0.5], atol=0.01)


def test_an_unknown_precision_is_told():
    with pytest.raises(RankaeError, match="float16"):
        Table.at("int3", np.ones((2, 2)))


@pytest.mark.parametrize("width", [1, 6, 7])
def test_int4_goes_into_half_a_byte_and_comes_back(width):
    values = np.random.default_rng(0).standard_normal((30, width)).astype(np.float32)
    table = Table.at("int4", values)
    arrays = packed({"table": table})
    assert arrays["table"].shape == (30, -(-width // 2))
    again = unpacked(arrays)["table"]
    np.testing.assert_array_equal(np.asarray(again), np.asarray(table))
    assert again.nibbles
    np.testing.assert_allclose(np.asarray(table), values, atol=np.abs(values).max() / 13)


def test_rows_of_zeros_are_not_stored():
    values = np.zeros((40, 5), np.float32)
    values[[3, 17]] = [[1, 2, 3, 4, 5], [-1, 0, 0, 0, 2]]
    for precision in ("float16", "int8", "int4"):
        table = Table.at(precision, values)
        arrays = packed({"table": table})
        assert len(arrays["table"]) == 2
        np.testing.assert_array_equal(np.asarray(unpacked(arrays)["table"]), np.asarray(table))
        with pytest.raises(ModelFileError, match="is inconsistent"):
            unpacked(arrays | {"table.kept": np.array([17, 3], np.int32)})
