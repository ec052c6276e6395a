import numpy as np
import scipy.sparse as sp

from rankae.recipe.fitting import fit_components
from rankae.recipe.notes import Training
from rankae.recipe.settings import RecipeSettings, resolved
from rankae.recipe.steps import Steps
from rankae.recipe.task import Task


def _fitted(rows, labels, **settings):
    training = Training()
    own = resolved(
        RecipeSettings(network=0, ranker_cost=1.0, tuning=False, **settings), rows, labels, ridge=1.0, training=training
    )
    return fit_components(Task(rows, labels, own, training, Steps(None, {}, training.choices)))


def _problem(n=250, labels=60):
    rng = np.random.default_rng(0)
    rows = sp.random(n, 80, density=0.2, random_state=1, format="csr", dtype=np.float32)
    return rows, (rng.random((n, labels)) < 0.02 + 0.2 * (np.arange(labels) < 5)).astype(np.float32)


def test_what_is_known_of_a_held_out_row_is_not_owed_to_its_labels():
    rows, told = _problem()
    how = {"code_size": 20, "neighbours": False, "proposed": 60}
    # Folds are drawn by a seed, whatever the labels are: the first one's rows are the first of `held`.
    before = _fitted(rows, sp.csr_matrix(told), **how)
    fold = before.held[:50]
    other = told.copy()
    other[fold] = other[fold][:, ::-1]
    after = _fitted(rows, sp.csr_matrix(other), **how)
    np.testing.assert_array_equal(after.held[:50], fold)
    own = before.candidates.shortlist.entries_of(np.arange(50))
    np.testing.assert_allclose(after.candidates.scores["code"][own], before.candidates.scores["code"][own], atol=1e-4)
    np.testing.assert_allclose(after.candidates.counts[own], before.candidates.counts[own])
    rest = np.setdiff1d(np.arange(250), fold)
    np.testing.assert_allclose(
        before.candidates.counts[own].reshape(50, 60)[0], told[rest].sum(0) * 250 / 200, rtol=1e-6
    )  # as many as there would be among all rows, if they were like those that the components have seen


def test_the_model_counts_all_rows():
    rows, told = _problem()
    stack = _fitted(rows, sp.csr_matrix(told)).stack
    np.testing.assert_array_equal(stack.label_counts, told.sum(0))
    candidates = stack.candidates(rows[:3])
    np.testing.assert_array_equal(candidates.counts, told.sum(0)[candidates.shortlist.columns])
