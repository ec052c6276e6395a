"""What the stacker learns from: rows that components have not seen, and labels of one row as often as they occur."""

import numpy as np
import pytest
import scipy.sparse as sp

from rankae import RankAE
from rankae.recipe.evidence import rows_of_single_labels
from rankae.recipe.held_out import HeldOutFolds
from rankae.recipe.notes import Training
from rankae.recipe.settings import RecipeSettings, resolved
from rankae.recipe.steps import Steps
from rankae.recipe.task import Task

WORDS = 600


def rows_of(words: np.ndarray) -> sp.csr_matrix:
    """Rows of the words that are given, rows x words of a row."""
    starts = np.arange(len(words) + 1) * words.shape[1]
    rows = sp.csr_matrix((np.ones(words.size, dtype=np.float32), words.ravel(), starts), shape=(len(words), WORDS))
    rows.sum_duplicates()
    return rows


def alike(words: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The same rows with a quarter of their words replaced."""
    other = words.copy()
    changed = rng.random(words.shape) < 0.25
    other[changed] = rng.integers(0, WORDS, changed.sum())
    return other


def one_label_each(labels: np.ndarray) -> sp.csr_matrix:
    ones = np.ones(len(labels), dtype=np.float32)
    return sp.csr_matrix((ones, (np.arange(len(labels)), labels)), shape=(len(labels), labels.max() + 1))


def learnt(labels: np.ndarray) -> float:
    """P@1 on rows like the training rows, whose words have nothing in common."""
    rng = np.random.default_rng(0)
    words = rng.integers(0, WORDS, (len(labels), 15))
    model = RankAE("fast").fit(rows_of(words), one_label_each(labels))
    return float((model.top_columns(rows_of(alike(words, rng)), 1)[0][:, 0] == labels).mean())


def test_labels_of_one_row_each_are_found_again():
    assert learnt(np.arange(200)) > 0.95


def test_and_among_labels_of_more_rows():
    assert learnt(np.concatenate([np.arange(150), 150 + np.repeat(np.arange(10), 5)])) > 0.95


def some_task(labels: sp.csr_matrix) -> Task:
    rows = sp.random(labels.shape[0], 50, density=0.3, random_state=0, format="csr", dtype=np.float32)
    training = Training()
    settings = resolved(RecipeSettings(network=0), rows, labels, ridge=1.0, training=training)
    return Task(rows, labels, settings, training, Steps(None, {}, training.choices))


def test_rows_of_which_no_label_can_be_known_do_not_teach():
    labels = sp.vstack([one_label_each(np.arange(20) % 4), sp.csr_matrix((5, 4), dtype=np.float32)], format="csr")
    alone = sp.csr_matrix((np.ones(1, dtype=np.float32), ([24], [0])), shape=(25, 1))
    folds = HeldOutFolds(some_task(sp.hstack([labels, alone], format="csr")), None)
    held = np.concatenate(folds.folds)
    assert sorted(held.tolist()) == list(range(25))
    assert held[~folds.learnable].tolist() == [24]  # rows without any label teach that no label is right


def test_single_labels_are_asked_about_as_often_as_they_occur():
    counts = np.concatenate([np.arange(10), 10 + np.arange(90) % 3])  # 10 of 100 labels stand on one row
    task = some_task(one_label_each(counts))

    class Asked:
        def candidates(self, rows):
            self.rows = rows
            raise KeyboardInterrupt

    asked = Asked()
    with pytest.raises(KeyboardInterrupt):
        rows_of_single_labels(task, asked, 50)
    assert asked.rows.shape[0] == 5
    assert 0 < asked.rows.nnz < task.rows[:5].nnz  # words are hidden
    assert rows_of_single_labels(some_task(one_label_each(np.arange(100) % 3)), asked, 50) is None
