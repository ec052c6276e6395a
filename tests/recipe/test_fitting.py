from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from rankae.base.choices import value_of
from rankae.components.label_names import LabelNames
from rankae.components.stack import Stack
from rankae.recipe.fitting import fit_stack
from rankae.recipe.held_out import HeldOutFolds
from rankae.recipe.notes import Training
from rankae.recipe.settings import RecipeSettings, resolved
from rankae.recipe.steps import Steps
from rankae.recipe.task import Task
from rankae.recipe.trusted import Trusted, TrustedRows
from rankae.recipe.votes import Votes


def _task(rows, labels, **settings):
    training = Training()
    own = resolved(
        RecipeSettings(network=0, ranker_cost=1.0, tuning=False, **settings), rows, labels, ridge=1.0, training=training
    )
    return Task(rows, labels, own, training, Steps(None, {}, training.choices))


def _problem(n=250, labels=60):
    rng = np.random.default_rng(0)
    rows = sp.random(n, 80, density=0.2, random_state=1, format="csr", dtype=np.float32)
    return rows, (rng.random((n, labels)) < 0.02 + 0.2 * (np.arange(labels) < 5)).astype(np.float32)


def _scored(rows, told, **settings):
    validation = HeldOutFolds(_task(rows, sp.csr_matrix(told), **settings), None)
    code, _ = validation.fit_code()
    stack = Stack(code, validation.label_counts(), 60)
    return validation, validation.score(stack)


def test_what_is_known_of_a_held_out_row_is_not_owed_to_its_labels():
    rows, told = _problem()
    how = {"code_size": 20, "neighbours": False, "proposed": 60}
    before, scored = _scored(rows, told, **how)
    fold = before.folds[0]
    other = told.copy()
    other[fold] = other[fold][:, ::-1]
    after, scored_after = _scored(rows, other, **how)
    np.testing.assert_array_equal(after.folds[0], fold)  # folds are drawn by a seed, whatever the labels are
    own = scored.shortlist.entries_of(np.arange(50))
    np.testing.assert_allclose(scored_after.scores["code"][own], scored.scores["code"][own], atol=1e-4)
    np.testing.assert_allclose(scored_after.counts[own], scored.counts[own])
    rest = np.setdiff1d(np.arange(250), fold)
    np.testing.assert_allclose(
        scored.counts[own].reshape(50, 60)[0], told[rest].sum(0) * 250 / 200, rtol=1e-6
    )  # as many as there would be among all rows, if they were like those that the components have seen


def test_the_model_counts_all_rows():
    rows, told = _problem()
    stack = fit_stack(_task(rows, sp.csr_matrix(told)))
    np.testing.assert_array_equal(stack.label_counts, told.sum(0))
    candidates = stack.candidates(rows[:3])
    np.testing.assert_array_equal(candidates.counts, told.sum(0)[candidates.shortlist.columns])


@pytest.mark.parametrize("trusted", [False, True])
def test_both_kinds_of_validation_rows_answer_the_same_questions(trusted):
    rows, told = _problem()
    task = _task(rows, sp.csr_matrix(told), neighbours=True)
    votes = Votes.of(task)
    own = Trusted(rows[:60], sp.csr_matrix(told[:60]))
    validation = TrustedRows(task, votes, own) if trusted else HeldOutFolds(task, votes)
    code, _ = validation.fit_code()
    stack = Stack(code, validation.label_counts(), task.settings.proposed, neighbours=votes.neighbours)
    stack.rankers = validation.fit_rankers(stack)
    scored = validation.score(stack)
    assert list(scored.scores) == list(stack.candidates(rows[:5]).scores) == ["code", "neighbours", "rankers"]
    assert len(scored.shortlist) == validation.labels.shape[0] == len(validation.learnable)


def test_a_network_learns_from_fewer_rows_than_there_are_labels():
    """Each fold's code is then shorter than that of all rows."""
    rows, carried = _problem(100, 110)
    training = Training()
    settings = RecipeSettings(network=1, epochs=1, neighbours=False, rankers=False)
    own = resolved(settings, rows, sp.csr_matrix(carried), ridge=1.0, training=training)
    task = Task(rows, sp.csr_matrix(carried), own, training, Steps(None, {}, training.choices))
    assert fit_stack(task).top(rows[:3], 5)[0].shape == (3, 5)


def test_few_rows_have_the_code_alone_which_is_calibrated_out_of_sample():
    rows, told = _problem(60, 10)
    task = _task(rows, sp.csr_matrix(told))
    stack = fit_stack(task)
    assert (stack.stacker, stack.rankers, value_of(task.training.choices, "components")) == (None, None, ["code"])
    assert len(task.training.held_out) == 60


def test_rankers_score_every_label_that_a_name_proposes_for_a_held_out_row():
    """A label without an out-of-fold score would count as 0: the stacker would learn that 0 means wrong."""
    rows, carried = _problem()
    names = LabelNames(sp.random(60, 80, density=0.1, random_state=2, format="csr", dtype=np.float32))
    task = replace(_task(rows, sp.csr_matrix(carried), proposed=5, random_negatives=0), names=names)
    validation = HeldOutFolds(task, None)
    code, _ = validation.fit_code()
    stack = Stack(code, validation.label_counts(), 5, names=names)
    stack.rankers = validation.fit_rankers(stack)
    scored = validation.score(stack)
    by_name_alone = np.diff(scored.shortlist.starts).max() > 5
    assert by_name_alone
    assert (scored.scores["rankers"] != 0).mean() > 0.99


def test_names_say_nothing_of_labels_that_the_fold_alone_carries():
    """Such a label is listed only because a held-out row carries it: to name it would nearly always be right."""
    rows, carried = _problem()
    names = LabelNames(sp.csr_matrix(np.ones((60, rows.shape[1]), dtype=np.float32)))

    def named(labels):
        """What names say of row 7, by label."""
        task = replace(_task(rows, sp.csr_matrix(labels), proposed=60), names=names)
        validation = HeldOutFolds(task, None)
        code, _ = validation.fit_code()
        scored = validation.score(Stack(code, validation.label_counts(), 60, names=names))
        entries = scored.shortlist.entries_of(np.flatnonzero(np.concatenate(validation.folds) == 7))
        return dict(zip(scored.shortlist.columns[entries], scored.scores["names"][entries], strict=True))

    carried[:, -3:] = 0
    carried[7, 59] = carried[:30, 58] = carried[30:, 57] = 1  # of one row, and of many
    by_label = named(carried)
    assert by_label.get(59, 0) == 0 < min(by_label[58], by_label[57])
    carried[:, 57] = 0  # a listed label that no row carries: label 59 stands in for it
    assert named(carried)[59] > 0
