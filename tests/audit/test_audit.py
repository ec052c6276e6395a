"""An audit finds the labels that were put in or taken out, says how many there are, and is repaired by decisions."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.sparse as sp

from rankae.audit import AuditSettings, audit
from rankae.audit.co_occurrence import co_occurrence
from rankae.audit.conflicts import conflicts
from rankae.audit.folds import NEAREST, grouped_folds, near_duplicate_groups
from rankae.audit.noise_rates import noise_model, probabilities, wilson
from rankae.audit.out_of_fold import Entries
from rankae.audit.page import audit_page
from rankae.audit.relations import related_labels, unpredictable_labels
from rankae.data.dataset import Dataset
from rankae.data.near_duplicates import nearest_others
from rankae.data.unit_length import unit_rows
from rankae.errors import DataError, RankaeError

TOPICS = ["apple", "bread", "cheese", "dates", "eggs", "flour", "grapes", "honey"]
FILLER = ["today", "we", "bought", "some", "more", "of", "it", "again", "from", "her"]
QUICK = AuditSettings(folds=3, top=60, method="knn", parameters={})


def shopping(rows: int = 400, seed: int = 0) -> Dataset:
    """Texts that name one or two topics, labelled by exactly the topics they name."""
    rng = np.random.default_rng(seed)
    texts, labels = [], np.zeros((rows, len(TOPICS)), dtype=np.float32)
    for i in range(rows):
        chosen = rng.choice(len(TOPICS), size=rng.integers(1, 3), replace=False)
        words = [TOPICS[c] for c in chosen] * 2 + list(rng.choice(FILLER, 5)) + [f"no{i}", f"of{i}"]
        rng.shuffle(words)
        texts.append(" ".join(words))
        labels[i, chosen] = 1
    return Dataset(sp.csr_matrix(labels), texts=texts, label_names=TOPICS, name="shopping")


@pytest.fixture(scope="module")
def noisy() -> tuple[Dataset, set[tuple[int, int]], set[tuple[int, int]]]:
    """The data with labels gone and labels put in, and which those are."""
    data = shopping()
    rng = np.random.default_rng(1)
    there = np.argwhere(data.labels.toarray() > 0)
    gone = {tuple(cell) for cell in there[rng.permutation(len(there))[:50]].tolist()}
    absent = np.argwhere(data.labels.toarray() == 0)
    put = {tuple(cell) for cell in absent[rng.permutation(len(absent))[:40]].tolist()}
    labels = data.labels.toarray()
    for cell in gone:
        labels[cell] = 0
    for cell in put:
        labels[cell] = 1
    return Dataset(sp.csr_matrix(labels), texts=data.texts, label_names=TOPICS, name="noisy"), gone, put


@pytest.fixture(scope="module")
def report(noisy):
    return audit(noisy[0], settings=AuditSettings(folds=2, top=60))


def test_what_was_put_in_and_taken_out_is_found(report, noisy):
    _, gone, put = noisy
    for kind, cells in (("missing", gone), ("wrong", put)):
        best = [(f.row, TOPICS.index(f.label)) for f in report.flags if f.kind == kind][:30]
        assert np.mean([cell in cells for cell in best]) >= 0.9


def test_the_rates_are_those_of_the_noise(report, noisy):
    data, gone, put = noisy
    wrong, missing = len(put) / data.labels.nnz, len(gone) / (data.labels.nnz - len(put) + len(gone))
    assert report.noise.wrong.value == pytest.approx(wrong, rel=0.35)
    assert report.noise.missing.low <= missing <= report.noise.missing.high
    rates = report.label_records()
    assert len(rates) == len(TOPICS)
    assert all(line["wrong_low"] <= line["wrong"] <= line["wrong_high"] for line in rates)


def test_flags_say_why(report):
    records = report.records()
    assert [r["probability"] for r in records] == sorted((r["probability"] for r in records), reverse=True)
    missing = [r for r in records if r["kind"] == "missing"][:20]
    assert np.mean([r["label"] in r["words"] for r in missing]) >= 0.9
    assert all(r["label"] not in r["labels"] for r in missing)
    assert any(near["carries"] for near in missing[0]["nearest"])


def test_the_page_stands_alone_and_escapes(report):
    page = audit_page(report)
    assert "<mark>" in page
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")
    assert page.count('data-kind="wrong"') == 60


def test_near_duplicates_share_a_fold():
    rows = unit_rows(sp.random(60, 30, 0.3, "csr", dtype=np.float32, random_state=0))
    rows = sp.vstack([rows, rows, rows], format="csr")
    found, cosine = nearest_others(rows, NEAREST)
    fold = grouped_folds(found, cosine, 4)
    assert (fold[:60] == fold[60:120]).all()
    assert (fold[:60] == fold[120:]).all()
    assert np.bincount(fold, minlength=4).min() >= 20
    assert near_duplicate_groups(found, cosine).max() + 1 <= 60


def test_noise_rates_of_exact_scores():
    rng = np.random.default_rng(0)
    n, cells = 40_000, 40_000
    right = rng.random(n) < 0.2
    scores = np.where(right, rng.normal(3, 1, n), rng.normal(-3, 1, n))
    observed = np.where(right, rng.random(n) < 0.8, rng.random(n) < 0.02)
    entries = Entries(np.arange(n), np.zeros(n, int), scores, observed, np.ones(n), np.ones(n, bool), scores[:, None])
    p = probabilities(entries, sp.csr_matrix(observed[:, None], dtype=np.float32))
    noise = noise_model(entries, p, cells)
    assert noise.missing.value == pytest.approx(0.2, abs=0.03)
    assert noise.cell.value == pytest.approx(0.02, abs=0.007)
    assert noise.wrong.value == pytest.approx((observed & ~right).sum() / observed.sum(), rel=0.35)
    # The posterior probabilities add up to what there is; here noise is even, which they do not take for granted.
    assert noise.is_wrong(p)[observed].sum() == pytest.approx((observed & ~right).sum(), rel=0.4)
    assert noise.is_missing(np.array([0.85]))[0] < 0.95  # by one rate for all cells: 1
    assert noise.is_missing(p)[~observed].sum() == pytest.approx((~observed & right).sum(), rel=0.35)


def test_wilson_by_hand():
    rate = wilson(0, 10)
    assert (rate.value, rate.low) == (0, 0)
    assert rate.high == pytest.approx(0.2775, abs=1e-3)


def test_related_labels():
    rng = np.random.default_rng(0)
    rows = unit_rows(sp.random(200, 50, 0.2, "csr", dtype=np.float32, random_state=0))
    labels = rng.random((200, 6)) < 0.3
    labels[:, 1] = labels[:, 0]  # the same rows
    labels[:, 2] |= labels[:, 3]  # 3 implies 2
    labels[:, 5] = False
    labels[:3, 5] = True
    names = ["car", "auto", "vehicle", "truck", "Web-Site", "websites"]
    found = related_labels(rows, sp.csr_matrix(labels, dtype=np.float32), names)
    told = {(r.kind, names[r.label], names[r.other]) for r in found}
    assert ("synonym", "car", "auto") in told
    assert ("implies", "truck", "vehicle") in told
    assert not any(kind == "implies" and label == "vehicle" for kind, label, _ in told)


def test_labels_that_nobody_predicts():
    rng = np.random.default_rng(0)
    columns = np.repeat([0, 1], 500)
    observed = rng.random(1000) < 0.05
    p = np.where(columns == 0, observed + 0.1, 1 - observed)
    entries = Entries(np.tile(np.arange(500), 2), columns, p, observed, np.ones(1000), np.ones(1000, bool), p[:, None])
    assert [label for label, _, _ in unpredictable_labels(entries, 2)] == [1]


def test_alike_rows_with_other_labels():
    found = np.array([[1], [0], [3], [2]])
    cosine = np.array([[1.0], [1.0], [1.0], [1.0]])
    labels = sp.csr_matrix([[1, 0, 1], [1, 1, 0], [1, 0, 0], [1, 0, 0]], dtype=np.float32)
    (only,) = conflicts(found, cosine, labels, 10)
    assert (only.row, only.other, only.only, only.other_only, only.same) == (0, 1, [2], [1], True)


def test_a_stopped_audit_goes_on(tmp_path, monkeypatch):
    from rankae.audit import out_of_fold

    data = shopping(90)
    settings = AuditSettings(folds=3, top=10, method="knn", parameters={}, checkpoint=tmp_path / "audit")
    whole = audit(data, settings=QUICK)
    scored, calls = out_of_fold.score_fold, []

    def stop_at_third(*given):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return scored(*given)

    monkeypatch.setattr(out_of_fold, "score_fold", stop_at_third)
    with pytest.raises(KeyboardInterrupt):
        audit(data, settings=settings)
    with pytest.raises(RankaeError, match="other data or settings"):
        audit(shopping(80), settings=settings)
    report = audit(data, settings=settings)
    assert len(calls) == 4
    assert report.noise == whole.noise
    assert not (tmp_path / "audit").exists()


def test_rows_of_features(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.random((120, 20)) < 0.2
    report = audit(X.astype(np.float32), [[f"l{j}" for j in np.flatnonzero(row[:5])] for row in X], QUICK)
    assert report.records()[0]["words"] == [] or report.records()[0]["words"][0].startswith("feature")
    json.dumps(report.summary())


def test_folds_of_too_few_rows_for_all_components():
    """Of 199 rows one fold learns from 100 and has every component; the other, from 99, has the code alone."""
    found = audit(shopping(199), settings=AuditSettings(folds=2, top=5))
    assert {flag.kind for flag in found.flags} == {"missing", "wrong"}


def test_nothing_to_audit_is_one_sentence():
    bare = Dataset(sp.csr_matrix((30, 3), dtype=np.float32), texts=["a"] * 30, name="bare")
    with pytest.raises(DataError, match="carry no labels"):
        audit(bare)
    with pytest.raises(DataError, match="at least 20 rows"):
        audit(shopping(5))


def test_other_labels_of_a_row_say_what_those_of_other_parts_know():
    labels = sp.csr_matrix([[1, 1, 0], [1, 1, 0], [1, 0, 0], [0, 0, 1]], dtype=np.float32)
    rows, columns = np.array([0, 0, 3]), np.array([1, 2, 2])
    found = co_occurrence(rows, columns, labels, np.array([0, 1, 1, 1]))
    # Of the two other rows with label 0 one carries label 1; the only other row with label 1 carries label 0.
    assert found[0].tolist() == pytest.approx([1 / 4, 1 / 4, 1 / 3, 1])
    assert found[1].tolist() == [0, 0, 0, 2]  # nobody else carries labels 0 and 2, or 1 and 2, together
    assert found[2].tolist() == [0, 0, 0, 0]


def test_a_label_that_others_imply_is_missed_though_no_word_tells_it():
    data = shopping()
    rng = np.random.default_rng(2)
    batch = (rng.random(len(data)) < 0.5).astype(np.float32)  # no text says of which batch a row is
    whole = np.column_stack([data.labels.toarray(), batch, batch])
    gone = rng.permutation(np.flatnonzero(batch))[:10]
    whole[gone, -1] = 0
    names = [*TOPICS, "batch", "its number"]
    report = audit(
        Dataset(sp.csr_matrix(whole), texts=data.texts, label_names=names), settings=AuditSettings(folds=2, top=60)
    )
    missing = [(flag.row, flag.label) for flag in report.flags if flag.kind == "missing"]
    assert sum((row, "its number") in missing[:12] for row in gone.tolist()) >= 7
    assert next(flag for flag in report.flags if flag.kind == "missing").probability > 0.15
