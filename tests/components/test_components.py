"""Each component of the default model alone: what it promises to the others."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn.preprocessing import normalize

from rankae.components import stack as model
from rankae.components.closed_form import ClosedForm
from rankae.components.dual_descent import BIAS_FEATURE, START_BIAS
from rankae.components.neighbours import Neighbours
from rankae.components.predictions import CodePredictions, SparsePredictions
from rankae.components.rankers import Rankers, random_negatives
from rankae.components.stack import Stack
from rankae.components.stacker import Stacker, evidence
from rankae.errors import ModelFileError
from rankae.metrics import precisions
from rankae.numerics.shortlist import Shortlist
from rankae.numerics.threads import limited_to
from rankae.paper.closed_form import warm_start


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    labels = sp.csr_matrix((rng.random((200, 8)) < 0.25).astype(np.float32))
    words = labels @ sp.csr_matrix(rng.random((8, 40)) * (rng.random((8, 40)) < 0.3))
    noise = sp.random(200, 40, density=0.05, random_state=2)
    rows = normalize(sp.csr_matrix(words + noise, dtype=np.float32))
    rows.sort_indices()
    return rows, labels


def test_a_union_is_distinct_and_sorted():
    found = Shortlist.union([np.array([[3, 1], [-1, -1]], np.int32), np.array([[1, 0], [2, -1]], np.int32)])
    assert found.columns.tolist() == [0, 1, 3, 2]
    assert found.starts.tolist() == [0, 3, 4]


def test_values_of_a_sparse_matrix_are_looked_up():
    shortlist = Shortlist.union([np.array([[0, 2], [1, 2]], np.int32)])
    matrix = sp.csr_matrix(np.array([[5, 0, 7], [0, 0, 9]], dtype=np.float32))
    assert shortlist.values_of(matrix).tolist() == [5, 7, 0, 9]


def test_best_entries_come_first_and_ties_go_to_the_lower_column():
    shortlist = Shortlist(np.array([0, 3, 4]), np.array([1, 4, 7, 2], np.int32))
    columns, scores = shortlist.best(np.array([0.5, 0.9, 0.5, 0.1], np.float32), 2)
    assert columns.tolist() == [[4, 1], [2, -1]]
    assert scores[1].tolist() == [np.float32(0.1), -np.inf]


def test_code_reading_scores_agree_with_its_proposals():
    rng = np.random.default_rng(0)
    predicted = CodePredictions(
        rng.random((5, 3), np.float32), rng.random((9, 3), np.float32), rng.random(9, np.float32)
    )
    everything = Shortlist.union([np.tile(np.arange(9, dtype=np.int32), (5, 1))])
    scores = predicted.scores(everything).reshape(5, 9)
    np.testing.assert_allclose(scores, predicted.codes @ predicted.table.T + predicted.bias, rtol=1e-5)
    np.testing.assert_array_equal(predicted.propose(3), np.argsort(-scores, axis=1)[:, :3])


def test_a_code_that_knows_the_common_labels_proposes_no_others_but_scores_all(data):
    rows, labels = data
    start, common = warm_start(rows, labels, 5, 1.0), np.array([1, 4, 6], np.int32)
    whole, component = ClosedForm.untouched(start).predict(rows), ClosedForm.untouched(start, common).predict(rows)
    everything = Shortlist.union([np.tile(np.arange(8, dtype=np.int32), (200, 1))])
    scores = whole.scores(everything).reshape(200, 8)
    np.testing.assert_array_equal(component.scores(everything).reshape(200, 8), scores)
    np.testing.assert_array_equal(component.propose(2), common[np.argsort(-scores[:, common], axis=1)[:, :2]])


def poor_start(data):
    """The closed-form start with a random D, which any tuning improves."""
    start = warm_start(*data, 5, 1.0)
    table = np.random.default_rng(0).standard_normal(start.label_table.shape).astype(np.float32)
    return replace(start, label_table=table)


def test_tuning_leaves_rare_labels_alone(data):
    start, common = poor_start(data), np.array([0, 2, 3, 4, 5, 7], np.int32)
    before = ClosedForm.untouched(start, common)
    after = before.tuned(start.loo_codes, data[1], epochs=3)
    np.testing.assert_allclose(after.label_table[[1, 6]], before.label_table[[1, 6]], rtol=1e-6)
    assert not np.allclose(after.label_table[common], before.label_table[common])
    np.testing.assert_array_equal(ClosedForm.from_state(*after.state()).common, common)


@pytest.mark.parametrize("common", [[-1, 2], [2, 2], [3, 8]])
def test_a_code_whose_common_labels_are_forged_is_refused(data, common):
    made, arrays = ClosedForm.untouched(warm_start(*data, 5, 1.0)).state()
    with pytest.raises(ModelFileError, match="train it again"):
        ClosedForm.from_state(made, arrays | {"common": np.array(common, np.int32)})


def test_neighbours_are_the_rows_of_largest_cosine_and_not_the_row_itself(data):
    rows, labels = data
    component = Neighbours.of(rows, labels, count=5)
    cosine = (rows @ rows.T).toarray()
    for left_out in (False, True):
        similarity = cosine - (10 * np.eye(len(cosine)) if left_out else 0)
        nearest = np.argsort(-similarity, axis=1)[:, :5]
        weight = np.take_along_axis(similarity, nearest, axis=1)
        votes = np.stack([w @ labels[n].toarray() for w, n in zip(weight, nearest, strict=True)]) / 5
        read = component.predict(rows, leave_one_out=left_out)
        found = read.named.matrix(read.values, labels.shape[1])
        np.testing.assert_allclose(found.toarray(), votes, atol=1e-5)
        assert all(np.all(np.diff(found[i].indices) > 0) for i in range(200))


@pytest.mark.parametrize(("name", "value"), [("rows.low", 200), ("rows.sizes", 250), ("labels.low", 8)])
def test_forged_postings_are_refused(data, name, value):
    made, arrays = Neighbours.of(*data).state()
    arrays = {key: array.copy() for key, array in arrays.items()}
    arrays[name][0] = value
    with pytest.raises(ModelFileError, match="train it again"):
        Neighbours.from_state(made, arrays)


def test_parts_that_know_different_words_are_refused(data):
    rows, labels = data
    code = ClosedForm.untouched(warm_start(rows, labels, 5, 1.0))
    stack = Stack(code, np.ones(8, np.float32), neighbours=Neighbours.of(rows[:, :30].tocsr(), labels))
    with pytest.raises(ModelFileError, match="different words"):
        Stack.from_state(*stack.state())


def test_a_code_by_itself_ranks_rare_labels_too(data):
    rows, labels = data
    common = np.array([1, 4, 6], np.int32)
    alone = Stack(ClosedForm.untouched(warm_start(rows, labels, 5, 1.0), common), np.ones(8, np.float32))
    assert all(sorted(row) == list(range(8)) for row in alone.top(rows, 8)[0].tolist())


@pytest.mark.parametrize("threads", [1, 2])
def test_rows_in_blocks_get_the_answers_that_they_get_together(data, monkeypatch, threads):
    rows, labels = data
    tables = warm_start(rows, labels, 5, 1.0)
    residual = {"in": np.eye(6, 5, dtype=np.float32), "in_bias": np.ones(6, np.float32)}
    residual["out"] = np.full((5, 6), 0.1, np.float32)
    code = ClosedForm(tables.word_table, tables.label_table, np.zeros(8, np.float32), residual)
    stack = Stack(code, np.ones(8, np.float32), proposed=3, neighbours=Neighbours.of(rows, labels))
    seen = stack.candidates(rows)
    right = seen.shortlist.values_of(labels)
    stack.stacker = Stacker.train(seen.shortlist, seen.evidence(), right, most_steps=50)
    columns, scores = stack.top(rows, 4)
    for i in range(5):  # one row is read by loops of its own
        found, found_scores = stack.top(rows[i], 4)
        np.testing.assert_array_equal(found[0], columns[i])
        np.testing.assert_allclose(found_scores[0], scores[i], rtol=1e-5, atol=1e-5)
    monkeypatch.setattr(model, "_BLOCK", 30)
    monkeypatch.setattr(model, "_MANY", 1)
    with limited_to(threads):
        found, found_scores = stack.top(rows, 4)
    np.testing.assert_array_equal(found, columns)
    np.testing.assert_allclose(found_scores, scores, rtol=1e-5, atol=1e-5)


def test_of_neighbours_that_are_equally_near_those_with_the_earlier_words_count():
    rows = sp.csr_matrix(np.eye(3, dtype=np.float32)[[2, 2, 1, 1, 0, 0]])
    labels = sp.csr_matrix(np.eye(6, dtype=np.float32))
    asked = sp.csr_matrix(np.array([[0, 1, 1], [1, 1, 1], [0, 0, 0]], dtype=np.float32))
    component = Neighbours.of(rows, labels, count=3, most_rows=3000)
    assert component.nearest(asked)[0].tolist() == [[2, 3, 0], [4, 5, 2], [-1, -1, -1]]


def test_few_postings_among_many_rows_are_added_up_alike():
    rng = np.random.default_rng(0)
    dense = np.where(rng.random((3000, 200)) < 0.025, rng.normal(0, 1, (3000, 200)), 0).astype(np.float32)
    rows = sp.csr_matrix(dense)
    component = Neighbours.of(rows, sp.csr_matrix((3000, 1), dtype=np.float32), count=4)
    asked = rows[:50]  # most have so few postings that only the rows which they touch are looked at
    postings = np.diff(component.search.weights.starts)
    few = [postings[asked[i].indices].sum() * 8 <= 3000 for i in range(50)]
    assert 0 < sum(few) < 50
    found, cosine = component.nearest(asked)
    exact = np.sort((asked @ rows.T).toarray(), axis=1)[:, ::-1][:, :4]
    np.testing.assert_allclose(cosine, np.maximum(exact, 0), atol=1e-5)
    assert np.all((found >= 0) == (exact > 0))


@pytest.mark.parametrize("precision", ["float16", "int8"])
def test_small_postings_vote_almost_alike(data, precision):
    rows, labels = data
    component = Neighbours.of(rows, labels)
    small = component.shrunk(precision)
    assert small.search.rows.dtype == np.uint16
    np.testing.assert_allclose(small.nearest(rows)[1], component.nearest(rows)[1], atol=0.02)
    again = Neighbours.from_state(*small.state())
    np.testing.assert_array_equal(again.nearest(rows)[1], small.nearest(rows)[1])


def test_sparse_reading_pads_what_it_cannot_fill():
    named = Shortlist(np.array([0, 2, 2]), np.array([1, 2], np.int32))
    predicted = SparsePredictions(named, np.array([3, 1], np.float32))
    assert predicted.propose(3).tolist() == [[1, 2, -1], [-1, -1, -1]]


def test_rankers_on_full_shortlists_are_plain_linear_svms(data):
    rows, labels = data
    everything = Shortlist.union([np.tile(np.arange(8, dtype=np.int32), (200, 1))])
    rankers, _ = Rankers.train(rows, labels, everything, least=0.0, passes=500, tolerance=1e-4)
    for label in range(8):
        signs = 2 * labels[:, label].toarray().ravel() - 1

        def loss(v, signs=signs):
            outside = np.maximum(1 - signs * (rows @ v[:-1] + v[-1]), 0)
            from_start = v[-1] - START_BIAS
            pull = rows.T @ (outside * signs), outside @ signs
            gradient = np.append(v[:-1] - 2 * pull[0], from_start / BIAS_FEATURE - 2 * pull[1])
            return 0.5 * (v[:-1] @ v[:-1] + from_start**2 / BIAS_FEATURE) + outside @ outside, gradient

        exact = minimize(loss, np.zeros(rows.shape[1] + 1), jac=True, method="L-BFGS-B", tol=1e-12).x
        np.testing.assert_allclose(rankers.weights[label].toarray().ravel(), exact[:-1], atol=2e-3)
        assert rankers.biases[label] == pytest.approx(exact[-1], abs=2e-3)


@pytest.mark.parametrize("folds", [1, 3])
def test_held_out_rows_are_scored_by_rankers_that_have_not_seen_them(data, folds):
    rows, labels = data
    fold = np.random.default_rng(0).integers(0, folds, 200) if folds > 1 else np.where(np.arange(200) < 40, 0, -1)
    everything = Shortlist.union([np.tile(np.arange(8, dtype=np.int32), (200, 1))])
    exactly = {"least": 0.0, "passes": 500, "tolerance": 1e-4}
    rankers, out_of_fold = Rankers.train(rows, labels, everything, fold=fold, **exactly)
    plain, nothing = Rankers.train(rows, labels, everything, **exactly)
    np.testing.assert_allclose(rankers.weights.toarray(), plain.weights.toarray(), atol=2e-3)
    assert nothing.nnz == 0
    assert np.diff(out_of_fold.indptr)[fold < 0].sum() == 0
    for f in range(folds):
        rest, held = fold != f, fold == f
        list_of_rest = Shortlist.union([np.tile(np.arange(8, dtype=np.int32), (rest.sum(), 1))])
        unseen, _ = Rankers.train(rows[rest], labels[rest], list_of_rest, **exactly)
        exact = (rows[held] @ unseen.weights.T).toarray() + unseen.biases
        np.testing.assert_allclose(out_of_fold[held].toarray(), exact, atol=5e-3)


def test_without_a_fold_rankers_learn_from_what_would_be_listed_without_it(data):
    rows, labels = data
    fold = np.where(np.arange(200) < 40, 0, -1)
    rng = np.random.default_rng(0)
    everything = Shortlist.union([np.tile(np.arange(8, dtype=np.int32), (200, 1))])
    some = Shortlist.union([rng.permuted(np.tile(np.arange(8, dtype=np.int32), (200, 1)), axis=1)[:, :3]])
    exactly = {"least": 0.0, "passes": 500, "tolerance": 1e-4}
    rankers, out_of_fold = Rankers.train(rows, labels, everything, fold=fold, without=[some], **exactly)
    plain, _ = Rankers.train(rows, labels, everything, **exactly)
    np.testing.assert_allclose(rankers.weights.toarray(), plain.weights.toarray(), atol=2e-3)
    rest, held = np.flatnonzero(fold < 0), np.flatnonzero(fold == 0)
    unseen, _ = Rankers.train(rows[rest], labels[rest], some.taken(rest), **exactly)
    exact = (rows[held] @ unseen.weights.T).toarray() + unseen.biases
    np.testing.assert_allclose(out_of_fold[held].toarray(), exact, atol=5e-3)
    other, _ = Rankers.train(rows[rest], labels[rest], everything.taken(rest), **exactly)
    assert abs((rows[held] @ other.weights.T).toarray() + other.biases - exact).max() > 0.1


def test_away_rows_have_no_vote():
    rows = sp.csr_matrix(np.array([[1, 0.0, 0, 0], [0.8, 0.6, 0, 0], [0.6, 0.8, 0, 0]], dtype=np.float32))
    component = Neighbours.of(rows, sp.csr_matrix(np.eye(3, dtype=np.float32)), count=2, most_rows=3000)
    found, cosine = component.nearest(rows, leave_one_out=True)
    away = np.array([False, True, False])
    assert component.proposed_without(found, cosine, away, 2).tolist() == [[2, -1], [2, 0], [0, -1]]


def test_the_untouched_part_gives_the_codes_of_the_solver(data):
    rows, labels = data
    start = warm_start(rows, labels, 8, 1.0)
    np.testing.assert_allclose(ClosedForm.untouched(start).predict(rows).codes, rows @ start.word_table, atol=1e-5)


def test_tuning_keeps_the_start_if_no_epoch_ranks_held_out_rows_better(data):
    rows, labels = data
    start = replace(warm_start(rows, labels, 8, 1.0), label_table=np.eye(8, dtype=np.float32))
    perfect = ClosedForm.untouched(start)
    assert perfect.tuned(labels.toarray(), labels, epochs=2) is perfect


def test_tuning_improves_the_ranking_of_held_out_rows(data):
    start, labels, check = poor_start(data), data[1], np.arange(60)

    def precision(component):
        best = component.predict_codes(start.loo_codes[check]).propose(5)
        return sum(precisions(best, labels[check]).values())

    before = ClosedForm.untouched(start)
    assert precision(before.tuned(start.loo_codes, labels, check=check, epochs=3)) > precision(before)


def test_the_stacker_learns_which_component_to_trust():
    rng = np.random.default_rng(0)
    shortlist = Shortlist.union([np.tile(np.arange(6, dtype=np.int32), (400, 1))])
    right = (rng.random(2400) < 0.2).astype(np.float32)
    reliable, noise = right + 0.3 * rng.standard_normal(2400), rng.standard_normal(2400)
    candidates = [noise.astype(np.float32), reliable.astype(np.float32)]
    seen = evidence(shortlist, candidates, np.zeros(2400), np.ones(2400), np.zeros(400))
    stacker = Stacker.train(shortlist, seen, right)
    best = shortlist.best(stacker.scores(seen), 1)[0][:, 0]
    reference = shortlist.best(reliable.astype(np.float32), 1)[0][:, 0]
    truth = right.reshape(400, 6)
    hit = truth[np.arange(400), best].mean()
    assert hit >= truth[np.arange(400), reference].mean() - 0.02


def test_a_combined_score_is_how_likely_a_label_is():
    rng = np.random.default_rng(0)
    shortlist = Shortlist.union([np.tile(np.arange(5, dtype=np.int32), (2000, 1))])
    logit = rng.normal(-1, 1.5, 10_000).astype(np.float32)
    right = (rng.random(10_000) < 1 / (1 + np.exp(-logit))).astype(np.float32)
    seen = evidence(shortlist, [logit], np.zeros(10_000), np.ones(10_000), np.zeros(2000))
    found = 1 / (1 + np.exp(-Stacker.train(shortlist, seen, right).scores(seen)))
    for low, high in ((0.1, 0.3), (0.4, 0.6), (0.7, 0.9)):
        of = (found >= low) & (found < high)
        assert right[of].mean() == pytest.approx(found[of].mean(), abs=0.06)


@pytest.mark.parametrize("deviation", [None, 1e-6], ids=["float32", "float64"])
def test_the_stacker_scores_in_one_loop_as_it_scores_evidence(deviation):
    rng = np.random.default_rng(0)
    shortlist = Shortlist.union([rng.integers(-1, 9, (20, 5)).astype(np.int32), np.full((20, 1), -1, np.int32)])
    candidates = [rng.normal(0, 1, len(shortlist.columns)).astype(np.float32) for _ in range(2)]
    counts, nearest = rng.integers(0, 50, len(shortlist.columns)).astype(np.float32), rng.random(20, np.float32)
    closest = rng.random(len(shortlist.columns), np.float32)
    seen = evidence(shortlist, candidates, closest, counts, nearest)
    stacker = Stacker.train(shortlist, seen, (candidates[0] > 0.5).astype(np.float32), most_steps=20)
    wanted = stacker.scores(seen)
    if deviation is not None:  # as early models have it of evidence that did not vary
        early = {name: value.copy() for name, value in stacker.weights.items()}
        early["deviation"][0], early["a"][0], early["B"][:, 0] = deviation, 1, 0
        stacker = Stacker(early)
        exact = Stacker({name: value.astype(np.float64) for name, value in early.items()})
        wanted = exact.scores(seen.astype(np.float64))
    out_of_fold = stacker.score_shortlist(shortlist, candidates, closest, counts, nearest)
    np.testing.assert_allclose(out_of_fold, wanted, rtol=1e-4, atol=1e-4)


def test_evidence_of_rows_without_candidates_is_empty():
    shortlist = Shortlist(np.array([0, 0, 2]), np.array([0, 1], np.int32))
    seen = evidence(shortlist, [np.array([1.0, 3.0], np.float32)], np.zeros(2), np.ones(2), np.zeros(2))
    assert seen[:, 1].tolist() == [-2, 0]


def test_the_closest_row_that_carries_a_label_is_told():
    rows = sp.csr_matrix(np.array([[1, 0], [0.8, 0.6], [0, 1]], dtype=np.float32))
    labels = sp.csr_matrix(np.array([[1, 0], [1, 1], [0, 1]], dtype=np.float32))
    read = Neighbours.of(rows, labels, count=3).predict(rows[:1])
    assert read.named.columns.tolist() == [0, 1]
    assert read.closest == pytest.approx([1.0, 0.8])
    assert read.values == pytest.approx([1.8 / 3, 0.8 / 3])
    left_out = Neighbours.of(rows, labels, count=3).predict(rows, leave_one_out=True)
    assert left_out.closest[left_out.named.entries_of(np.array([2]))] == pytest.approx([0.6, 0.6])


def test_easy_negatives_are_drawn_by_the_root_of_frequency():
    often = sp.csr_matrix(np.eye(3, dtype=np.float32)[[0] * 900 + [1] * 100])  # the last label is never carried
    drawn = random_negatives(often, 30)
    assert drawn.shape == (1000, 30)
    shares = np.bincount(drawn.ravel(), minlength=3) / drawn.size
    assert shares == pytest.approx([0.75, 0.25, 0], abs=0.02)


def test_a_shortlist_can_be_looked_at_for_some_labels_only():
    shortlist = Shortlist(np.array([0, 3, 3, 5]), np.array([0, 2, 5, 2, 4], np.int32))
    some = shortlist.among(np.array([2, 5, 7]))
    assert some.starts.tolist() == [0, 2, 2, 3]
    assert some.columns.tolist() == [0, 1, 0]
