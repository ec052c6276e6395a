"""one-vs-rest, classifier-chain, knn and popular against scikit-learn and plain counting."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.multioutput import ClassifierChain
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC
from sklearn.utils import check_random_state

from rankae.errors import DataError
from rankae.methods import registry


@pytest.fixture
def data() -> tuple[sp.csr_matrix, sp.csr_matrix]:
    random = np.random.default_rng(1)
    rows = sp.csr_matrix(sp.random(150, 20, density=0.3, format="csr", dtype=np.float32, random_state=random))
    return rows, sp.csr_matrix(rows[:, :5].toarray() > 0.4, dtype=np.float32)


def test_one_vs_rest_is_a_linear_svm_for_each_label(data) -> None:
    rows, labels = data
    ours = registry.create("one-vs-rest", random_state=0, drop_below=0.0).fit(rows, labels).decision_function(rows)
    seed = check_random_state(0).randint(2**31 - 1)
    for label in range(5):
        svm = LinearSVC(dual=True, random_state=seed).fit(normalize(rows), labels[:, label].toarray().ravel())
        np.testing.assert_allclose(ours[:, label], svm.decision_function(normalize(rows)), rtol=1e-4, atol=1e-5)


def test_the_chain_is_that_of_scikit_learn(data) -> None:
    rows, labels = data
    ours = registry.create("classifier-chain", random_state=0).fit(rows, labels).decision_function(rows)
    random = check_random_state(0)
    svm = LinearSVC(dual=True, random_state=random.randint(2**31 - 1))
    chain = ClassifierChain(svm, order=random.permutation(5)).fit(normalize(rows), labels.toarray())
    np.testing.assert_allclose(ours, chain.decision_function(normalize(rows)), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("name", ["one-vs-rest", "classifier-chain", "br"])
def test_more_labels_than_documented_are_refused_with_a_way_out(name: str, data) -> None:
    with pytest.raises(DataError, match=f"{name} .*up to 4 .*not 5: use .*or raise label_limit"):
        registry.create(name, label_limit=4).fit(*data)


def test_knn_weighs_the_labels_of_the_nearest_rows_by_cosine() -> None:
    rows = np.array([[1, 0], [1, 1], [0, 1], [0, 2]], dtype=np.float32)
    model = registry.create("knn", neighbours=2).fit(rows, [["a"], ["b"], ["c"], ["c"]])
    names, scores = model.predict_top(np.array([[5.0, 1.0]]), k=2)
    unit = np.array([5, 1]) / np.sqrt(26)
    assert names[0].tolist() == ["a", "b"]
    np.testing.assert_allclose(scores[0], [unit[0] / 2, unit.sum() / np.sqrt(2) / 2], rtol=1e-5)


def test_popular_scores_are_shares_of_rows() -> None:
    model = registry.create("popular").fit(np.ones((4, 1)), [["a", "b"], ["b"], ["b"], []])
    names, scores = model.predict_top(np.zeros((2, 1)), k=5)
    assert names.tolist() == [["b", "a"]] * 2
    assert scores.tolist() == [[0.75, 0.25]] * 2
