"""Cuts do on new rows what they were chosen for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from rankae.base.choose_cuts import Aim, choose_cuts, curve
from rankae.base.cuts import Cuts
from rankae.base.held_out import HeldOut
from rankae.errors import DataError
from rankae.metrics import Selection


def drawn(rows: int, seed: int, labels: int = 30, k: int = 12) -> tuple[HeldOut, np.ndarray]:
    """Rankings with exact probabilities."""
    rng = np.random.default_rng(seed)
    columns = np.argsort(rng.random((rows, labels)), axis=1)[:, :k].astype(np.int32)
    p = -np.sort(-rng.beta(0.4, 1.2, size=(rows, k)), axis=1).astype(np.float32)
    row, rank = np.nonzero(rng.random((rows, k)) < p)
    truth = sp.csr_matrix((np.ones(len(row), np.float32), (row, columns[row, rank])), shape=(rows, labels))
    return HeldOut(columns, np.log(p / (1 - p)), truth), p


def measured(cuts: Cuts, seed: int = 9) -> dict[str, float]:
    new, p = drawn(3000, seed)
    return Selection.of(new.columns, cuts.selected(new.columns, p), new.labels).measures()


def test_precision_is_reached_on_new_rows():
    cuts = choose_cuts(*drawn(2000, 0), Aim.parse("precision=0.9"))
    assert measured(cuts)["precision"] == pytest.approx(90, abs=1.5)
    assert cuts.figures["precision"] >= 90


def test_a_precision_takes_probabilities_too_and_so_is_not_reached_by_luck():
    realised = []
    for seed in range(30):
        held_out, p = drawn(100, seed)
        realised.append(measured(choose_cuts(held_out, p, Aim.parse("precision=0.9")))["precision"])
    assert 89.7 < np.mean(realised) < 91.5
    assert np.std(realised) < 1.8  # 2.3 by the share of hits
    assert min(realised) > 88


def test_hits_decide_where_they_contradict_the_probabilities():
    held_out, p = drawn(2000, 0)
    cuts = choose_cuts(held_out, np.sqrt(p), Aim.parse("precision=0.9"))  # far too sure
    assert measured(replace(cuts, overall=cuts.overall**2))["precision"] == pytest.approx(90, abs=1.5)


def test_copies_of_a_row_are_told_by_one():
    """Four rows in six copies each, right by luck, do not confirm a precision that their probabilities deny."""
    held_out, p = drawn(400, 0)
    lucky = np.repeat(np.arange(4), 6)
    columns, labels = held_out.columns.copy(), held_out.labels.tolil()
    columns[:24], p[:24, 0], p[:24, 1:] = columns[lucky], 0.7, 0.01
    labels[np.arange(24), columns[:24, 0]] = 1
    p[24:] = np.minimum(p[24:], 0.6)
    groups = np.concatenate([lucky, np.arange(4, 380)])
    copies = HeldOut(columns, np.log(p / (1 - p)), sp.csr_matrix(labels), groups=groups)
    with pytest.raises(DataError, match="cannot be reached"):
        choose_cuts(copies, p, Aim.parse("precision=0.9"))
    assert choose_cuts(replace(copies, groups=None), p, Aim.parse("precision=0.9")).overall > 0.6


def test_near_duplicates_of_training_rows_do_not_count_for_a_promise():
    """Half of the held-out rows are copies whose listed labels are all right; new rows are no copies."""
    held_out, p = drawn(4000, 0)
    copies = np.arange(4000) < 2000
    row, rank = np.nonzero(copies[:, None] | held_out.hits)
    truth = sp.csr_matrix((np.ones(len(row), np.float32), (row, held_out.columns[row, rank])), shape=(4000, 30))
    easy = replace(held_out, labels=truth)
    told = replace(easy, nearest=np.where(copies, 0.95, 0.3))
    for aim in ("precision=0.9", "recall=0.8"):
        wanted = Aim.parse(aim)
        without = choose_cuts(held_out.taken(~copies), p[~copies], wanted)
        assert choose_cuts(told, p, wanted).overall == without.overall != choose_cuts(easy, p, wanted).overall
    cuts = choose_cuts(told, p, Aim.parse("precision=0.9"))
    assert cuts.figures["rows"] == 2000
    assert curve(told, p, cuts) == curve(held_out.taken(~copies), p[~copies], cuts)
    f1 = Aim.parse("f1")
    assert choose_cuts(told, p, f1, per_label=False).overall == choose_cuts(easy, p, f1, per_label=False).overall


def test_count_gives_as_many_labels_as_there_are():
    held_out, p = drawn(2000, 0)
    cuts = choose_cuts(held_out, p, Aim.parse("count"))
    assert measured(cuts)["labels_per_row"] == pytest.approx(held_out.labels.nnz / 2000, rel=0.05)


def test_a_precision_is_not_told_by_a_handful_of_labels():
    """The three surest labels are right, of the others half: that promises nothing of .95."""
    columns = np.arange(400, dtype=np.int32)[:, None] % 5
    p = np.linspace(1, 0.1, 400, dtype=np.float32)[:, None]
    right = (np.arange(400) < 3) | (np.arange(400) % 2 == 0)
    truth = sp.csr_matrix((right.astype(np.float32), columns[:, 0], np.arange(401)), shape=(400, 5))
    truth.eliminate_zeros()
    with pytest.raises(DataError, match="cannot be reached"):
        choose_cuts(HeldOut(columns, np.log(p), truth), p, Aim("precision", 0.95))


def test_a_recall_is_told_as_the_mean_over_rows():
    held_out, p = drawn(400, 0)
    cuts = choose_cuts(held_out, p, Aim.parse("recall = 0.8"))
    passes = cuts.selected(held_out.columns, p) & held_out.hits
    counts = np.diff(held_out.labels.indptr)
    shares = np.where(counts > 0, passes.sum(1) / np.maximum(counts, 1), 1)
    assert cuts.figures["recall_of_rows"] == pytest.approx(100 * shares.mean(), abs=1e-3)
    assert cuts.figures["recall_of_rows"] >= 80


def test_f1_is_better_than_a_fixed_cut():
    cuts = choose_cuts(*drawn(2000, 0), Aim.parse("f1"), per_label=False)
    assert measured(cuts)["micro-F1"] > measured(Cuts("p", 0.5))["micro-F1"] + 1
    # of exact probabilities the best cut for F1 is half of the F1 that it reaches
    assert cuts.overall == pytest.approx(measured(cuts)["micro-F1"] / 200, abs=0.05)


def test_recall_holds_on_average_over_many_draws():
    found = []
    for seed in range(30):
        cuts = choose_cuts(*drawn(100, seed), Aim.parse("recall=0.8"))
        new, p = drawn(400, 1000 + seed)
        counts = np.diff(new.labels.indptr)
        chosen = cuts.selected(new.columns, p) & new.hits
        found.append(np.where(counts > 0, chosen.sum(1) / np.maximum(counts, 1), 1).mean())
    assert 0.8 <= np.mean(found) < 0.84
    assert "expected recall of at least 0.8" in cuts.figures["guarantee"]


def test_labels_with_few_rows_keep_the_cut_of_all():
    held_out, p = drawn(300, 0)
    rare = held_out.labels.tolil()
    rare[:, 0] = 0
    rare = sp.csr_matrix(rare)
    cuts = choose_cuts(HeldOut(held_out.columns, held_out.scores, rare), p, Aim.parse("f1"), per_label=True)
    assert cuts.label_cuts[0] == np.float32(cuts.overall)
    assert cuts.figures["labels_with_own_cut"] > 20


def test_labels_that_need_other_cuts_get_them():
    """Half of the labels are right only where they are very probable: only cuts of their own can tell."""
    held_out, p = drawn(2000, 0)
    truth = held_out.labels.toarray()
    high = np.zeros_like(truth)
    np.put_along_axis(high, held_out.columns, (p > 0.8).astype(np.float32), 1)
    truth[:, 15:] *= high[:, 15:]
    new = HeldOut(held_out.columns, held_out.scores, sp.csr_matrix(truth))
    assert choose_cuts(new, p, Aim.parse("f1")).label_cuts is not None


def test_what_cannot_be_reached_is_one_sentence():
    held_out, p = drawn(300, 0)
    with pytest.raises(DataError, match="recall=0.99 cannot be reached: with 2 labels per row"):
        choose_cuts(HeldOut(held_out.columns[:, :2], held_out.scores, held_out.labels), p[:, :2], Aim("recall", 0.99))
    with pytest.raises(DataError, match=r"precision=0.9999 takes 10,000 predicted labels to tell, .* have 3,600"):
        choose_cuts(held_out, p, Aim("precision", 0.9999))
    with pytest.raises(DataError, match="precision=0.9 cannot be reached: of the 20 or more surest labels"):
        choose_cuts(
            HeldOut(held_out.columns[:, 6:], held_out.scores[:, 6:], held_out.labels), p[:, 6:], Aim("precision", 0.9)
        )
    # The surest half reaches the target by its probabilities, both halves by their hits, and neither by both.
    surest, every = np.arange(50) < 25, np.ones((50, 1), dtype=np.float32)
    halves = np.where(surest, 0.92, 0.86)[:, None]
    some = HeldOut(np.where(np.arange(50) < 5, 1, 0)[:, None], halves, sp.csr_matrix(np.hstack([every, 0 * every])))
    with pytest.raises(DataError, match="at most 89.0% are right"):
        choose_cuts(some, halves, Aim("precision", 0.9))
    none = sp.csr_matrix((300, 30), dtype=np.float32)
    with pytest.raises(DataError, match="carry no labels"):
        choose_cuts(HeldOut(held_out.columns, held_out.scores, none), p, Aim("f1"))


@pytest.mark.parametrize("text", ["", "f2", "precision", "precision=high", "recall=1.5", "f1=0.5"])
def test_aims_that_mean_nothing(text):
    with pytest.raises(DataError, match="give f1, count, precision=0.9 or recall=0.8"):
        Aim.parse(text)


def test_the_curve_falls_with_the_cut():
    held_out, p = drawn(500, 0)
    cuts = choose_cuts(held_out, p, Aim.parse("f1"))
    points = curve(held_out, p, cuts)
    assert cuts.overall in [point["cut"] for point in points]
    recall = [point["recall"] for point in points]
    assert recall == sorted(recall, reverse=True)
