"""Labels and rows in every form that a user may hand in."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from rankae.base.inputs import is_text, label_matrix, labels_among, name_array
from rankae.data.unit_length import unit_rows
from rankae.errors import DataError

INDICATOR = [[1, 0, 1], [0, 0, 0], [0, 1, 0]]


@pytest.mark.parametrize(
    "given",
    [
        np.array(INDICATOR),
        np.array(INDICATOR, dtype=bool),
        np.array(INDICATOR, dtype=np.float64),
        np.array(INDICATOR, dtype=object),
        sp.csr_matrix(INDICATOR),
        sp.csr_array(INDICATOR),
        sp.coo_matrix(INDICATOR),
        sp.csc_matrix(np.array(INDICATOR, dtype=bool)),
    ],
    ids=lambda given: f"{type(given).__name__} {given.dtype}",
)
def test_indicators(given):
    found = label_matrix(given)
    assert found.kind == "indicator"
    assert found.matrix.dtype == np.float32
    np.testing.assert_array_equal(found.matrix.toarray(), INDICATOR)
    np.testing.assert_array_equal(found.classes, [0, 1, 2])


def test_an_indicator_is_made_canonical_and_the_original_left_alone():
    given = sp.csr_matrix((np.array([1.0, 0.0, 1.0]), [2, 1, 0], [0, 3]), shape=(1, 3))
    found = label_matrix(given).matrix
    np.testing.assert_array_equal(found.indices, [0, 2])
    np.testing.assert_array_equal(given.indices, [2, 1, 0])


@pytest.mark.parametrize("wrong", [2, -1, 0.5, np.nan, np.inf])
def test_an_indicator_holds_only_zeros_and_ones(wrong):
    with pytest.raises(DataError, match=f"holds {float(wrong)}; it must hold only 0 and 1"):
        label_matrix(np.array([[1.0, wrong]]))


@pytest.mark.parametrize(
    "given",
    [
        [["b", "a"], [], ["c", "b", "b"]],
        [("b", "a"), (), ("c", "b")],
        [["b", "a"], set(), np.array(["c", "b"])],
        (row for row in (["b", "a"], [], ["c", "b"])),
        np.array([["b", "a"], [], ["c", "b"]], dtype=object),
    ],
    ids=["lists", "tuples", "mixed", "generator", "object array"],
)
def test_lists_of_names(given):
    found = label_matrix(given)
    assert found.kind == "lists"
    assert found.classes.tolist()[:2] == ["b", "a"]  # in order of first appearance
    np.testing.assert_array_equal(found.matrix.toarray(), [[1, 1, 0], [0, 0, 0], [1, 0, 1]])


def test_rows_of_zeros_and_ones_are_an_indicator():
    targets = label_matrix([[1, 0, 1], [0, 0, 0], [0, 1, 0]])
    assert targets.kind == "indicator"
    assert targets.matrix.toarray().tolist() == INDICATOR
    assert label_matrix([[0, 1], [1, 0]]).kind == "lists"  # names, for all that is known


def test_sets_give_the_same_order_in_every_process():
    names = [f"label {i}" for i in range(50)]
    assert label_matrix([set(names)]).classes.tolist() == sorted(names)


def test_a_table_of_names_is_lists():
    found = label_matrix(np.array([["a", "b"], ["b", "c"]]))
    assert found.kind == "lists"
    assert found.classes.tolist() == ["a", "b", "c"]


def test_names_may_be_any_hashable():
    names = [(1, "x"), (2, "y"), None, 3.5, "s", frozenset({1})]
    found = label_matrix([[name] for name in names])
    assert found.classes.tolist() == names
    np.testing.assert_array_equal(found.matrix.toarray(), np.eye(6))


@pytest.mark.parametrize(
    ("given", "classes"),
    [
        (["b", "a", "b"], ["a", "b"]),
        (np.array(["b", "a", "b"]), ["a", "b"]),
        (np.array([2, 1, 2]), [1, 2]),
        (np.array([2.5, 1.0, 2.5]), [1.0, 2.5]),
        ([True, False, True], [False, True]),
    ],
)
def test_one_name_a_row(given, classes):
    found = label_matrix(given)
    assert found.kind == "single"
    assert found.classes.tolist() == classes
    np.testing.assert_array_equal(found.matrix.toarray(), [[0, 1], [1, 0], [0, 1]])


def test_names_of_several_types_have_an_order():
    assert label_matrix(["b", 1, "a"]).classes.tolist() == [1, "a", "b"]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (3, "indicator matrix, or a list"),
        ("news", "indicator matrix, or a list"),
        (np.zeros((2, 2, 2)), "3 dimensions"),
        ([["a"], "b"], "row 1: labels must be a list, not str"),
        ([["a"], None], "row 1: labels must be a list, not NoneType"),
        ([["a"], [["b"]]], "row 1: a label is not hashable"),
        ([{"a": 1}, {"b": 2}], "a name or a list of names, not dict"),
        (np.array([1.0, np.nan]), "contains NaN"),
    ],
)
def test_what_is_not_labels_is_refused(given, sentence):
    with pytest.raises(DataError, match=sentence):
        label_matrix(given)


def test_labels_among_known_ones_take_their_columns():
    known = name_array(["a", "b", ("c", 1)])
    found = labels_among([[("c", 1), "a"], [], ["b"]], known)
    np.testing.assert_array_equal(found.toarray(), [[1, 0, 1], [0, 0, 0], [0, 1, 0]])
    np.testing.assert_array_equal(labels_among(np.array(INDICATOR), known).toarray(), INDICATOR)


def test_labels_that_are_not_among_the_known_ones_are_refused_or_passed_over():
    known = name_array(["a", "b"])
    with pytest.raises(DataError, match="label 'x' was not in the first rows"):
        labels_among([["b", "x"], ["x"]], known)
    np.testing.assert_array_equal(labels_among([["b", "x"], ["x"]], known, pass_over=True).toarray(), [[0, 1], [0, 0]])
    with pytest.raises(DataError, match="labels have 3 columns, the model 2"):
        labels_among(np.array(INDICATOR), known, pass_over=True)


@pytest.mark.parametrize(
    "names", [[(1, 2), (3, 4)], [(1,), (2,)], ["a", "b"], [1.5, 2.5], [True, False], [2**70, 1], []]
)
def test_name_array_keeps_names_whole(names):
    found = name_array(names)
    assert found.shape == (len(names),)
    assert found.tolist() == names
    assert [type(name) for name in found.tolist()] == [type(name) for name in names]


def test_name_array_of_integers_is_an_integer_array():
    assert name_array([3, np.int8(1), -(2**62)]).dtype == np.int64


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        (["a b", "c"], True),
        (("a b",), True),
        (np.array(["a b", "c"]), True),
        (np.array(["a b", "c"], dtype=object), True),
        ("a b", False),
        ([], False),
        ([[1.0, 2.0]], False),
        (np.zeros((2, 2)), False),
        (np.array([["a"]]), False),
        (sp.csr_matrix((2, 2)), False),
        (3, False),
    ],
)
def test_is_text(rows, text):
    assert is_text(rows) is text


def test_unit_rows_have_length_one_and_sorted_columns_and_leave_the_users_matrix_alone():
    rows = sp.csr_matrix(([3.0, 4.0, 0.0], [2, 0, 1], [0, 2, 2, 3]), shape=(3, 3))
    given = rows.copy()
    found = unit_rows(rows)
    np.testing.assert_allclose(found.toarray(), [[0.8, 0, 0.6], [0, 0, 0], [0, 0, 0]])
    assert found.dtype == np.float32
    assert found.indices.tolist() == [0, 2, 1]
    assert rows.indices.tolist() == given.indices.tolist()


def test_rows_that_are_so_already_are_not_copied():
    rows = sp.csr_matrix(np.eye(3, dtype=np.float32))
    assert unit_rows(rows) is rows
    empty = sp.csr_matrix((2, 3), dtype=np.float32)
    assert unit_rows(empty) is empty
