from __future__ import annotations

import numpy as np
import pytest

from rankae.data import TextFeatures, make_dataset
from rankae.data.made_up_words import made_up_words
from rankae.errors import DataError


def test_sizes_and_names():
    train, test = make_dataset(rows=300, labels=40, features=500, test_rows=50, text=False)
    assert (len(train), len(test)) == (300, 50)
    assert train.features.shape == (300, 500)
    assert len(set(train.label_names)) == train.n_labels == 40
    assert (train.labels.getnnz(axis=1) > 0).all()
    np.testing.assert_allclose(np.sqrt(train.features.multiply(train.features).sum(axis=1)), 1, rtol=1e-5)


def test_the_seed_fixes_everything():
    one, same, other = (make_dataset(rows=50, labels=20, seed=seed)[0] for seed in (1, 1, 2))
    assert one.texts == same.texts
    assert (one.labels != same.labels).nnz == 0
    assert one.texts != other.texts


def test_labels_follow_zipf_and_depend_on_each_other():
    train, _ = make_dataset(rows=4000, labels=100)
    counts = np.sort(np.bincount(train.labels.indices, minlength=100))[::-1]
    assert counts[:10].sum() > 0.35 * counts.sum()
    together = (train.labels.T @ train.labels).toarray()
    chance = np.outer(together.diagonal(), together.diagonal()) / len(train)
    np.fill_diagonal(together, 0)
    assert (together > 5 * chance + 5).sum() > 20


def test_a_linear_model_learns_it_but_not_perfectly():
    train, test = make_dataset(rows=3000, labels=100)
    text = TextFeatures()
    x, z = text.fit_transform(train.texts), text.transform(test.texts)
    gram = (x @ x.T).toarray() + np.eye(len(train))
    scores = (z @ x.T) @ np.linalg.solve(gram, train.labels.toarray())
    best = scores.argmax(axis=1)
    precision = test.labels.toarray()[np.arange(len(test)), best].mean()
    assert 0.7 < precision < 0.95


def test_noise_strikes_training_labels_only():
    clean, clean_test = make_dataset(rows=1000, labels=50)
    noisy, noisy_test = make_dataset(rows=1000, labels=50, missing=0.5)
    assert noisy.labels.nnz == pytest.approx(clean.labels.nnz / 2, rel=0.1)
    assert (noisy_test.labels != clean_test.labels).nnz == 0
    assert noisy.texts == clean.texts


def test_a_single_label_and_very_many():
    assert make_dataset(rows=20, labels=1)[0].n_labels == 1
    assert make_dataset(rows=200, labels=300_000, features=1000, text=False)[0].n_labels == 300_000


def test_made_up_words_are_distinct():
    words = made_up_words(60_000)
    assert len(set(words)) == 60_000
    assert all(word.isalpha() and word.islower() for word in words[:100])


def test_mistakes():
    with pytest.raises(DataError, match="0 labels were asked for"):
        make_dataset(labels=0)
    with pytest.raises(DataError, match="at least one row"):
        make_dataset(rows=0)
