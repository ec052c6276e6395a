"""PfastreXML: its score by hand, and rare labels served better than by FastXML."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from rankae.data import load_dataset
from rankae.metrics import evaluate, inverse_propensities
from rankae.rivals.fastxml import FastXML
from rankae.rivals.pfastrexml import PfastreXML


def test_the_score_is_the_forests_and_the_centres() -> None:
    X = np.array([[3.0, 0], [3, 4], [0, 2], [1, 1]])
    Y = sp.csr_matrix([[1, 0], [1, 1], [0, 1], [0, 1]])
    model = PfastreXML(trees=2, max_leaf=4, alpha=0.7, gamma=3.0).fit(X, Y)  # one leaf
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    forest = inverse_propensities(Y) * [2 / 4, 3 / 4]
    centres = np.stack([unit[:2].mean(axis=0), unit[1:].mean(axis=0)])
    for row in ([1.0, 0.5], [0, 0]):
        x = np.array(row) / max(np.linalg.norm(row), 1e-9)
        nearness = 1 / (1 + np.exp(1.5 * ((x - centres) ** 2).sum(axis=1)))
        expected = forest**0.7 * nearness**0.3
        np.testing.assert_allclose(model.decision_function([row])[0], expected, rtol=1e-5)


def test_without_centres_a_rare_label_gains_on_a_frequent_one() -> None:
    # In one leaf the rare label is carried by a third of the rows, the frequent one by half.
    Y = sp.csr_matrix([[1, 0], [1, 0], [1, 0], [0, 1], [0, 1], [0, 0]] + [[1, 0]] * 94)
    X = np.zeros((100, 2))
    X[:6, 0], X[6:, 1] = 1, 1
    shared: dict = {"trees": 1, "max_leaf": 10, "cost": 100.0}
    plain = FastXML(**shared).fit(X, Y).decision_function(X[:1])[0]
    weighted = PfastreXML(alpha=1.0, **shared).fit(X, Y).decision_function(X[:1])[0]
    assert weighted[1] / weighted[0] > plain[1] / plain[0]


@pytest.mark.slow
def test_rare_labels_of_bibtex_are_served_better(real_data) -> None:
    train, test = load_dataset(real_data("bibtex")), load_dataset(real_data("bibtex"), split="test")
    found = [
        evaluate(
            method(trees=20).fit(train.features, train.labels).top_columns(test.features, 5)[0],
            test.labels,
            train_labels=train.labels,
        )
        for method in (FastXML, PfastreXML)
    ]
    for name in ("PSP@1", "PSP@3", "PSP@5"):
        assert found[1][name] > found[0][name]
