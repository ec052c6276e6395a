"""The paper's model and no more, on the paper's data."""

from __future__ import annotations

import pytest
from sklearn.preprocessing import normalize

from rankae.data import load_dataset
from rankae.metrics import evaluate
from rankae.paper.joint import train_joint


@pytest.mark.slow
def test_the_papers_model_on_delicious(real_data) -> None:
    folder = real_data("delicious")
    train, test = load_dataset(folder, "train"), load_dataset(folder, "test")
    network = train_joint(normalize(train.features), train.labels)
    scores = evaluate(network.top(normalize(test.features), 5)[0], test.labels)
    assert scores["P@1"] >= 66.0
    assert scores["P@3"] >= 60.3
    assert scores["P@5"] >= 55.3
